# frozen_string_literal: true

require "socket"
require "stringio"
require_relative "support/frames"

RSpec.describe WsUnmask::Frame do
  include Frames

  it "reads the example of RFC 6455, section 5.7" do
    frame = described_class.read(StringIO.new(hello))
    expect(frame).to have_attributes(fin?: true, opcode: 1, type: :text, masked?: true,
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

  it "reads no byte more than it needs, from a socket that stays open" do
    ours, theirs = UNIXSocket.pair
    theirs.write("#{hello}rest")
    expect(described_class.read(ours).payload).to eq "Hello"
    expect(ours.readpartial(100)).to eq "rest"
  ensure
    [ours, theirs].each { |socket| socket&.close }
  end

  it "knows all types" do
    types = %i[continuation text binary close ping pong]
    expect(types.map { |type| described_class.decode(frame(type)).type }).to eq types
    expect(described_class.decode(frame(:text, "x", fin: false))).not_to be_fin
  end

  it "decodes the frame at the start of a String" do
    expect(described_class.decode("#{hello}more").payload).to eq "Hello"
    expect(described_class.decode("")).to be_nil
  end

  it "raises EOFError wherever a frame is cut" do
    [hello, frame(:binary, "x" * 200), frame(:binary, "x" * 70_000)].each do |bytes|
      [1, 2, 3, 5, 6, 9, bytes.bytesize - 1].each do |length|
        cut = bytes.byteslice(0, length)
        expect { described_class.decode(cut) }.to raise_error(EOFError)
        expect { described_class.read(StringIO.new(cut)) }.to raise_error(EOFError)
      end
    end
  end

  it "gives a fragment's text as bytes, since it may end within a character" do
    payload = described_class.decode(frame(:text, "gr\xc3", fin: false)).payload
    expect(payload).to eq "gr\xc3".b
    expect(payload.encoding).to be Encoding::ASCII_8BIT
  end

  it "holds frames to the protocol and to the limits" do
    refused = {
      "\x81\x05Hello" => WsUnmask::NotMaskedError,
      frame(:text, "\xff") => WsUnmask::InvalidPayloadError,
      frame(:binary, "x" * 11) => WsUnmask::MessageTooBigError,
      "\xc1\x80\0\0\0\0" => WsUnmask::ProtocolError,
      "\x89\xfe\x00\x7e\0\0\0\0" => WsUnmask::ProtocolError
    }
    refused.each do |bytes, error|
      expect { described_class.decode(bytes, max_frame_size: 10) }.to raise_error(error)
      expect { described_class.read(StringIO.new(bytes), max_frame_size: 10) }.to raise_error(error)
    end
    frame = described_class.decode("\xe1\x05Hello".b, require_mask: false, allow_reserved: [1, 2])
    expect(frame).to have_attributes(rsv1?: true, rsv2?: true, rsv3?: false, masked?: false)
  end

  it "takes memory for what has come, not for what a header promises" do
    asked = []
    io = StringIO.new([0x82, 0xff, 60 << 20, "key!", "x" * 100_000].pack("CCQ>a4a*"))
    io.define_singleton_method(:read) { |length| super(length.tap { asked << length }) }
    expect { described_class.read(io) }.to raise_error(EOFError)
    expect(asked.max).to be <= 128 << 10
  end

  it "passes on what the IO raises, and cannot be made by itself" do
    io = Object.new.tap { |object| def object.getbyte = raise(IOError, "closed") }
    expect { described_class.read(io) }.to raise_error(IOError, "closed")
    expect { described_class.read(1) }.to raise_error(NoMethodError)
    expect { described_class.new }.to raise_error(TypeError, /allocator undefined/)
  end

  it "peeks at a frame in the middle of what has come, and says how long it is" do
    bytes = "before#{hello}after".b
    frame = described_class.peek(bytes, 6)
    expect(frame).to have_attributes(payload: "Hello", type: :text, size: hello.bytesize)
    [0, 125, 126, 65_535, 65_536].product([true, false]).each do |length, masked|
      bytes = described_class.encode(2, "x" * length, ("key!" if masked))
      expect(described_class.peek(bytes, 0, masked).size).to eq bytes.bytesize
    end
  end

  it "peeks at nothing that is not whole or out of the ordinary, and raises nothing for it" do
    (0...hello.bytesize).each do |length|
      expect(described_class.peek(hello.byteslice(0, length))).to be_nil
    end
    ["\x81\x05Hello", frame(:text, "\xff"), "\xc1\x80\0\0\0\0", "\x83\x80\0\0\0\0",
     "\x82\xff\x7f#{"\xff" * 7}key!"].each do |bytes|
      expect(described_class.peek(bytes.b)).to be_nil
    end
    expect(described_class.peek("\x81\x05Hello", 0, false).payload).to eq "Hello"
    expect(described_class.peek(hello, 11)).to be_nil
    expect(described_class.peek(hello, 1 << 40)).to be_nil
    expect { described_class.peek(hello, -1) }.to raise_error(ArgumentError)
  end

  it "takes a read for a whole text only if it is that, and as a socket gives it" do
    text = described_class.whole_text(hello, true)
    expect([text, text.encoding]).to eq ["Hello", Encoding::UTF_8]
    expect(described_class.whole_text(described_class.encode(1, "grüß"), false)).to eq "grüß"
    others = [nil, 1, "", "#{hello}x".b, hello.chop, hello.freeze, frame(:binary, "x"),
              hello.force_encoding("UTF-8"), described_class.encode(1, "Hello"),
              frame(:text, "\xff"),
              frame(:text, "x", fin: false), frame(:ping, "x")]
    expect(others.map { |bytes| described_class.whole_text(bytes, true) }).to all be_nil
  end

  it "encodes what it decodes" do
    [0, 1, 125, 126, 65_535, 65_536].product([nil, "key!", [1, 2, 3, 255]]) do |length, key|
      payload = Random.bytes(length)
      bytes = described_class.encode(2, payload, key, false, [1, 3])
      frame = described_class.decode(bytes, require_mask: false, allow_reserved: [1, 3])
      expect(frame).to have_attributes(payload:, opcode: 2, fin?: false, masked?: !key.nil?,
                                       rsv1?: true, rsv2?: false, rsv3?: true)
      expect(bytes.encoding).to be Encoding::ASCII_8BIT
    end
  end

  it "encodes as another encoder does" do
    key = "\x37\xfa\x21\x3d".b
    %i[continuation text binary close ping pong].zip([0, 1, 2, 8, 9, 10]) do |type, opcode|
      expect(described_class.encode(opcode, "Hello", key)).to eq frame(type, "Hello", key:)
    end
    expect(described_class.encode(1, "grüß".encode("UTF-16LE"), key))
      .to eq frame(:text, "grüß".encode("UTF-16LE"), key:)
  end

  it "encodes nothing that may not be sent" do
    wrong = [[3, "x"], [16, "x"], [-1, "x"], [nil, "x"], [:text, "x"], [9, "x" * 126],
             [8, "", nil, false], [1, "x", "abc"], [1, "x", nil, true, [4]]]
    wrong.each do |arguments|
      expect { described_class.encode(*arguments) }.to raise_error(ArgumentError)
    end
    expect { described_class.encode(1, :text) }.to raise_error(TypeError)
    expect { described_class.encode(1, "x", 5) }.to raise_error(TypeError)
    expect { described_class.encode(1) }.to raise_error(ArgumentError)
  end

  it "works under GC.stress" do
    payloads = ["x" * 100, "y" * 5000, "ü" * 100, ""]
    bytes = payloads.map { |payload| frame(:text, payload) }
    GC.stress = true
    frames = bytes.flat_map do |frame|
      again = described_class.encode(1, described_class.peek(frame).payload, "key!")
      [described_class.decode(frame), described_class.read(StringIO.new(again))]
    end
    GC.stress = false
    expect(frames.map(&:payload)).to eq(payloads.flat_map { |payload| [payload, payload] })
  ensure
    GC.stress = false
  end

  it "keeps its payload through collection and compaction" do
    frames = Array.new(1000) { |i| described_class.decode(frame(:text, "number #{i}")) }
    GC.start
    GC.compact if GC.respond_to?(:compact)
    expect(frames.map(&:payload)).to eq(Array.new(1000) { |i| "number #{i}" })
  end
end
