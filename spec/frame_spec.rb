# frozen_string_literal: true

require "socket"
require "stringio"
require_relative "support/child"
require_relative "support/frames"

RSpec.describe WsUnmask::Frame do
  include Child
  include Frames

  it "cannot be created directly" do
    expect { described_class.new }.to raise_error(TypeError, /allocator undefined/)
  end

  it "can be subclassed" do
    subclass = Class.new(described_class) { def shout = payload.upcase }
    expect(subclass.decode(hello).shout).to eq "HELLO"
    expect(subclass.read(StringIO.new(hello))).to be_an_instance_of(subclass)
  end

  it "keeps its payload through garbage collection and compaction" do
    frames = Array.new(1000) { |i| described_class.decode(frame(:text, "number #{i}")) }
    GC.start
    GC.compact if GC.respond_to?(:compact)
    expect(frames.map(&:payload)).to eq(Array.new(1000) { |i| "number #{i}" })
  end

  describe ".read" do
    it "reads the example of RFC 6455, section 5.7" do
      frame = described_class.read(StringIO.new(hello))
      expect(frame).to have_attributes(fin?: true, opcode: 1, type: :text, masked?: true, size: 11,
                                       rsv1?: false, rsv2?: false, rsv3?: false, payload: "Hello")
      expect(frame.payload.encoding).to be Encoding::UTF_8
      expect(frame.payload).to be frame.payload
    end

    it "reads one frame after the other, and nil at the end" do
      payloads = [0, 1, 125, 126, 65_535, 65_536, 300_000].map { |length| Random.bytes(length) }
      io = StringIO.new(payloads.map { |payload| frame(:binary, payload) }.join)
      expect(payloads.map { described_class.read(io).payload }).to eq payloads
      expect(described_class.read(io)).to be_nil
    end

    it "reads no more bytes than it needs from a socket that stays open" do
      ours, theirs = UNIXSocket.pair
      theirs.write("#{hello}rest")
      expect(described_class.read(ours).payload).to eq "Hello"
      expect(ours.readpartial(100)).to eq "rest"
    ensure
      [ours, theirs].each { |socket| socket&.close }
    end

    it "reads no more bytes at once than it has received" do
      asked = []
      io = StringIO.new([0x82, 0xff, 60 << 20, "key!", "x" * 100_000].pack("CCQ>a4a*"))
      io.define_singleton_method(:read) { |length| super(length.tap { asked << length }) }
      expect { described_class.read(io) }.to raise_error(EOFError)
      expect(asked.max).to be <= 128 << 10
    end

    it "says that .decode is for Strings when it is given one" do
      expect { described_class.read(hello) }
        .to raise_error(TypeError, "Frame.read takes an IO; use Frame.decode for a String")
    end

    it "passes on what the IO raises" do
      io = Object.new.tap { |object| def object.getbyte = raise(IOError, "closed") }
      expect { described_class.read(io) }.to raise_error(IOError, "closed")
      expect { described_class.read(1) }.to raise_error(NoMethodError)
    end

    it "refuses an IO whose read returns the wrong type or too many bytes" do
      { 5 => TypeError, "" => EOFError, nil => EOFError, ("x" * 100) => ArgumentError }
        .each do |answer, error|
          io = StringIO.new(hello)
          io.define_singleton_method(:read) { |_| answer }
          expect { described_class.read(io) }.to raise_error(error)
        end
      expect { described_class.read(nil) }.to raise_error(TypeError, "io must be an IO, not nil")
    end

    it "does not wait for the second byte if the first one is wrong" do
      io = Object.new
      def io.getbyte = @asked ? raise("asked again") : (@asked = 0xc1)
      expect { described_class.read(io) }.to raise_error(WsUnmask::ProtocolError)
    end
  end

  describe ".decode" do
    it "decodes the frame at the start of a String" do
      expect(described_class.decode("#{hello}more").payload).to eq "Hello"
      expect(described_class.decode("")).to be_nil
    end

    it "decodes the frame at an offset" do
      bytes = "before#{hello}after".b
      expect(described_class.decode(bytes,
                                    offset: 6)).to have_attributes(payload: "Hello", size: 11)
      expect(described_class.decode(hello, offset: 11)).to be_nil
      expect(described_class.decode(hello, offset: 1 << 40)).to be_nil
      expect { described_class.decode(hello, offset: -1) }.to raise_error(ArgumentError, /offset/)
      expect { described_class.decode("xx\x81\x05Hello", offset: 2) }
        .to raise_error(an_instance_of(WsUnmask::NotMaskedError).and(have_attributes(offset: 3)))
    end

    it "knows all types" do
      types = %i[continuation text binary close ping pong]
      expect(types.map { |type| described_class.decode(frame(type)).type }).to eq types
      expect(described_class.decode(frame(:text, "x", fin: false))).not_to be_fin
    end

    it "returns a fragment of text as bytes, since it may end within a character" do
      payload = described_class.decode(frame(:text, "gr\xc3", fin: false)).payload
      expect(payload).to eq "gr\xc3".b
      expect(payload.encoding).to be Encoding::ASCII_8BIT
    end
  end

  describe ".read and .decode" do
    def both(bytes, **options)
      [-> { described_class.decode(bytes, **options) },
       -> { described_class.read(StringIO.new(bytes), **options) }]
    end

    it "raise EOFError wherever a frame is cut" do
      [hello, frame(:binary, "x" * 200), frame(:binary, "x" * 70_000)].each do |bytes|
        [1, 2, 3, 5, 6, 9, bytes.bytesize - 1].each do |length|
          expect(both(bytes.byteslice(0, length)))
            .to all raise_error(EOFError, "unexpected end of input inside a frame")
        end
      end
    end

    it "refuse frames that violate the protocol or are over the limit, and say where" do
      refused = {
        "\x81\x05Hello" => [WsUnmask::NotMaskedError, 1],
        frame(:text, "\xff") => [WsUnmask::InvalidPayloadError, 6],
        frame(:binary, "x" * 11) => [WsUnmask::MessageTooBigError, 1],
        "\xc1\x80\0\0\0\0" => [WsUnmask::ProtocolError, 0],
        "\x89\xfe\x00\x7e\0\0\0\0" => [WsUnmask::ProtocolError, 1],
        "\x82\xfe\x00\x02\0\0\0\0" => [WsUnmask::ProtocolError, 3],
        frame(:close, "\x03") => [WsUnmask::ProtocolError, 6],
        frame(:close, "\x05\x07bye") => [WsUnmask::ProtocolError, 10],
        frame(:close, "\x03\xe8\xff") => [WsUnmask::InvalidPayloadError, 8],
        # errors that are visible although the frame is incomplete
        "\xc1" => [WsUnmask::ProtocolError, 0],
        "\x81\x03xx" => [WsUnmask::NotMaskedError, 1],
        "\x82\xfe\x00\x02\0" => [WsUnmask::ProtocolError, 3]
      }
      refused.each do |bytes, (error, offset)|
        expect(both(bytes, max_frame_size: 10))
          .to all raise_error(an_instance_of(error).and(have_attributes(offset:)))
      end
    end

    it "accept what the options allow" do
      both("\xe1\x05Hello".b, require_mask: false, allow_reserved: [1, 2]).each do |decode|
        expect(decode.call).to have_attributes(rsv1?: true, rsv2?: true, rsv3?: false,
                                               masked?: false, payload: "Hello")
      end
    end

    it "refuse invalid options, and name them" do
      expect(both(hello, max_frame_size: -1)).to all raise_error(ArgumentError, /max_frame_size/)
      expect(both(hello, max_frame_size: "1")).to all raise_error(TypeError, /max_frame_size/)
      expect(both(hello, allow_reserved: 1)).to all raise_error(TypeError, /allow_reserved/)
      expect(both(hello, max_size: 1)).to all raise_error(ArgumentError, /max_size/)
    end
  end

  describe ".encode" do
    it "encodes what .decode decodes" do
      [0, 1, 125, 126, 65_535, 65_536].product([nil, "key!", [1, 2, 3, 255]]) do |length, mask|
        payload = Random.bytes(length)
        bytes = described_class.encode(:binary, payload, mask:, fin: false, reserved: [1, 3])
        frame = described_class.decode(bytes, require_mask: false, allow_reserved: [1, 3])
        expect(frame).to have_attributes(payload:, opcode: 2, fin?: false, masked?: !mask.nil?,
                                         rsv1?: true, rsv2?: false, rsv3?: true,
                                         size: bytes.bytesize)
        expect(bytes.encoding).to be Encoding::ASCII_8BIT
      end
    end

    it "encodes as an independent encoder does, by type and by opcode" do
      mask = "\x37\xfa\x21\x3d".b
      payload = "\x03\xe8 bye"
      %i[continuation text binary close ping pong].zip([0, 1, 2, 8, 9, 10]) do |type, opcode|
        content = opcode == 8 ? payload : "Hello"
        expected = frame(type, content, key: mask)
        expect(described_class.encode(type, content, mask:)).to eq expected
        expect(described_class.encode(opcode, content, mask:)).to eq expected
      end
    end

    it "echoes what a Decoder returns" do
      [frame(:text, "grüß"), frame(:binary, "\xff"), frame(:ping, "?"), frame(:close),
       frame(:close, [4001].pack("n") << "grüß".b)].each do |bytes|
        type, payload = WsUnmask::Decoder.new.feed(bytes)[0]
        echo = described_class.encode(type, payload)
        expect(echo).to eq described_class.encode(type, described_class.decode(bytes).payload)
      end
    end

    it "encodes text in any encoding whose bytes are valid UTF-8" do
      expected = described_class.encode(:text, "grüß")
      expect(described_class.encode(:text, "grüß".b)).to eq expected
      expect(described_class.encode(:text, "gr".encode("US-ASCII")).bytesize).to eq 4
    end

    it "refuses text that is not UTF-8" do
      ["grüß".encode("UTF-16LE"), "gr".encode("UTF-16BE"),
       "gr\xfc\xdf".dup.force_encoding("ISO-8859-1")]
        .each do |text|
          expect { described_class.encode(:text, text) }
            .to raise_error(ArgumentError, /must be in UTF-8, not #{text.encoding}/)
        end
      ["caf\xe9", "caf\xc3", "caf\xe9".b].each do |text|
        expect { described_class.encode(:text, text) }
          .to raise_error(ArgumentError, "text is not valid UTF-8")
      end
    end

    it "takes a type that was made from a String" do
      script = 'p WsUnmask::Frame.encode(["po", "ng"].join.to_sym, "")'
      expect(in_child(script)).to eq "#{"\x8A\x00".b.inspect}\n"
    end

    it "does not show objects with an inspect of their own in errors" do
      type = Object.new
      def type.inspect = raise("inspected")
      expect { described_class.encode(type, "") }.to raise_error(ArgumentError, /type must be/)
    end

    it "accepts a fragment that ends inside a character, and compressed text" do
      expect(described_class.encode(:text, "caf\xc3", fin: false)).to end_with "caf\xc3".b
      expect { described_class.encode(:text, "caf\xc3x", fin: false) }.to raise_error(ArgumentError)
      expect(described_class.encode(:text, "\xff", reserved: [1])).to end_with "\xff".b
    end

    it "refuses frames that no peer accepts" do
      wrong = [[3, "x"], [16, "x"], [-1, "x"], [nil, "x"], [:txt, "x"], [9, "x" * 126],
               [:close, "\x03"], [:close, "\x03\xed"], [:close, "\x03\xe8\xff"]]
      wrong.each do |arguments|
        expect { described_class.encode(*arguments) }.to raise_error(ArgumentError)
      end
      [{ mask: "abc" }, { reserved: [4] }, { reserved: [1] }, { fin: false },
       { finn: true }].each do |options|
        expect { described_class.encode(:ping, "x", **options) }.to raise_error(ArgumentError)
      end
      expect { described_class.encode(:text) }.to raise_error(ArgumentError)
    end

    it "refuses arguments of other classes" do
      expect { described_class.encode(:text, :text) }.to raise_error(TypeError, /payload/)
      expect { described_class.encode(:close, 1000) }.to raise_error(TypeError, /WsUnmask::Close/)
      expect { described_class.encode(:text, "x", mask: 5) }.to raise_error(TypeError, /key/)
      expect do
        described_class.encode(:text, "x", reserved: 1)
      end.to raise_error(TypeError, /reserved/)
    end
  end

  describe ".close" do
    it "encodes a close frame" do
      expect(described_class.close).to eq "\x88\x00".b
      expect(described_class.close(1000)).to eq "\x88\x02\x03\xe8".b
      expect(described_class.close(4001, "grüß")).to eq "\x88\x08\x0f\xa1gr\xc3\xbc\xc3\x9f".b
      expect(described_class.close(1000,
                                   "grüß".encode("UTF-16LE"))).to eq described_class.close(1000,
                                                                                           "grüß")
      expect(described_class.close(1000, "ü".b)).to eq described_class.close(1000, "ü")
      expect(WsUnmask::Decoder.new.feed(described_class.close(1000, "bye", mask: "key!")))
        .to eq [[:close, WsUnmask::Close.new(1000, "bye")]]
    end

    it "refuses codes and reasons that must not be sent" do
      [[1005], [999], [70_000], ["1000"], [nil, "reason"], [1000, "x" * 124], [1000, "\xff"],
       [1000, "\xff".b], [1000, "\xff\xd8".dup.force_encoding("UTF-16LE")],
       [1000, "a".dup.force_encoding("UTF-7")]]
        .each do |arguments|
          expect { described_class.close(*arguments) }.to raise_error(ArgumentError)
        end
      expect { described_class.close(1000, :bye) }.to raise_error(TypeError, /reason/)
    end
  end

  describe "#inspect" do
    it "shows the header, and the beginning of the payload" do
      expect(described_class.decode(hello).inspect)
        .to eq '#<WsUnmask::Frame text fin masked 5 bytes: "Hello">'
      long = described_class.decode(frame(:text, "ü" * 1000, fin: false)).inspect
      expect(long).to include("2000 bytes").and end_with("...>")
      expect(long.size).to be < 300
    end
  end
end
