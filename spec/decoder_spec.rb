# frozen_string_literal: true

require "objspace"
require_relative "support/frames"

RSpec.describe WsUnmask::Decoder do
  include Frames

  subject(:decoder) { described_class.new }

  # All that comes of feeding the pieces with a block.
  def fed(*pieces, decoder: described_class.new)
    messages = []
    pieces.each { |piece| decoder.feed(piece) { |*message| messages << message } }
    messages
  end

  it "decodes the example of RFC 6455, section 5.7" do
    expect(decoder.feed(hello)).to eq [[:text, "Hello"]]
    expect(fed(hello)).to eq [[:text, "Hello"]]
  end

  it "returns itself when it was given a block" do
    expect(decoder.feed(hello) { nil }).to be decoder
  end

  it "returns no message until its last byte has come" do
    pieces = hello.each_char.to_a
    expect(pieces[..-2].flat_map { |byte| decoder.feed(byte) }).to eq []
    expect(decoder.feed(pieces.last)).to eq [[:text, "Hello"]]
  end

  it "puts fragments together, and lets control frames out between them" do
    stream = frame(:text, "Hel", fin: false) + frame(:ping, "?") +
             frame(:continuation, "lo") + frame(:pong, "!")
    expected = [[:ping, "?"], [:text, "Hello"], [:pong, "!"]]
    expect(fed(stream)).to eq expected
    expect(fed(*stream.each_char)).to eq expected
    expect(decoder.feed(stream)).to eq expected
  end

  it "gives the same messages however the stream is cut" do
    random = Random.new(RSpec.configuration.seed)
    messages = Array.new(200) do
      length = [rand(0..125), rand(0..4000), rand(60_000..70_000)].sample(random:)
      case random.rand(4)
      when 0 then [:text, "x" * length]
      when 1 then [:text, ("grüß " * ((length / 7) + 1)).byteslice(0, length).scrub("?")]
      when 2 then [:binary, random.bytes(length)]
      else [:ping, random.bytes(length % 126)]
      end
    end
    stream = messages.map { |type, payload| frame(type, payload) }.join
    expect(fed(stream)).to eq messages
    expect(fed(*cut(stream, random:))).to eq messages
    decoder = described_class.new
    expect(cut(stream, random:).flat_map { |piece| decoder.feed(piece) }).to eq messages
  end

  describe "a text" do
    it "is UTF-8 whose code range Ruby knows already" do
      texts = ["", "Hello", "grüß", "x" * 5000, "#{"x" * 40_000}ü", "語" * 30_000]
      texts.each do |text|
        whole = fed(frame(:text, text))[0][1]
        half = text.bytesize / 2
        stream = frame(:text, text.byteslice(0, half), fin: false) +
                 frame(:continuation, text.byteslice(half..))
        [whole, fed(stream)[0][1], fed(*cut(frame(:text, text)))[0][1]].each do |got|
          expect(got).to eq text
          expect(got.encoding).to be Encoding::UTF_8
          # What Ruby says of a copy, it had to find out by itself.
          expect(got.ascii_only?).to be text.dup.ascii_only?
          expect(got.valid_encoding?).to be true
          expect(got.length).to eq text.chars.size
          expect(got.upcase).to eq text.upcase
        end
      end
    end

    it "is not checked if nobody wants it to be" do
      decoder = described_class.new(validate_utf8: false)
      (_, text), (_, ascii) = decoder.feed(frame(:text, "caf\xe9") + frame(:text, "cafe"))
      expect(text.encoding).to be Encoding::UTF_8
      expect(text).not_to be_valid_encoding
      expect(ascii).to be_ascii_only
    end

    it "is refused where the first bad byte is, be the rest of it still to come" do
      bytes = frame(:text, "caf\xe9 and what follows", fin: false)
      expect(decoder.feed(bytes.byteslice(0, 10))).to eq []
      expect { decoder.feed(bytes.byteslice(10, 1)) }.to raise_error(WsUnmask::InvalidPayloadError)
    end
  end

  it "gives everything else in ASCII-8BIT" do
    messages = fed(frame(:binary, "x"), frame(:ping, "x"), frame(:pong, "x"),
                   frame(:binary, "y" * 300_000))
    expect(messages.map { |_, payload| payload.encoding }.uniq).to eq [Encoding::ASCII_8BIT]
  end

  describe "a close frame" do
    it "comes parsed" do
      type, close = decoder.feed(frame(:close, [4001].pack("n") + "grüß".b))[0]
      expect(type).to be :close
      expect(close).to eq WsUnmask::Close.new(4001, "grüß")
      expect(close.reason.encoding).to be Encoding::UTF_8
      expect(fed(frame(:close))).to eq [[:close, WsUnmask::Close.new(nil, "")]]
    end

    it "ends the stream" do
      expect(decoder).not_to be_closed
      expect(decoder.feed(frame(:close) + hello).size).to eq 1
      expect(decoder).to be_closed
      expect(decoder.feed("\xff\xff\xff".b)).to eq []
    end
  end

  describe "a fault" do
    faults = {
      "an unmasked frame" => ["\x81\x00", WsUnmask::NotMaskedError, 1002],
      "a reserved bit" => ["\xc1\x80", WsUnmask::ProtocolError, 1002],
      "a reserved opcode" => ["\x83\x80", WsUnmask::ProtocolError, 1002],
      "a fragmented control frame" => ["\x09\x80", WsUnmask::ProtocolError, 1002],
      "a control frame over 125 bytes" => ["\x89\xfe", WsUnmask::ProtocolError, 1002],
      "a continuation without a start" => ["\x80\x80\0\0\0\0", WsUnmask::ProtocolError, 1002],
      "a message inside of another" => ["\x01\x80\0\0\0\0\x81\x80\0\0\0\0",
                                        WsUnmask::ProtocolError, 1002],
      "a length not in its shortest form" => ["\x82\xfe\x00\x7d", WsUnmask::ProtocolError, 1002],
      "the top bit of a 64-bit length" => ["\x82\xff\x80\0\0\0\0\0\0\0",
                                           WsUnmask::ProtocolError, 1002],
      "a close frame of one byte" => ["\x88\x81\0\0\0\0\x03", WsUnmask::ProtocolError, 1002],
      "a close code that must not be sent" => ["\x88\x82\0\0\0\0\x03\xed",
                                               WsUnmask::ProtocolError, 1002],
      "a close reason that is not UTF-8" => ["\x88\x83\0\0\0\0\x03\xe8\xff",
                                             WsUnmask::InvalidPayloadError, 1007],
      "a text that is not UTF-8" => ["\x81\x81\0\0\0\0\xff", WsUnmask::InvalidPayloadError, 1007],
      "a message over the limit" => ["\x82\xff\0\0\0\0\x04\0\0\x01\0\0\0\0",
                                     WsUnmask::MessageTooBigError, 1009]
    }

    faults.each do |name, (bytes, error, code)|
      it "of #{name} is a #{error.name} with #{code}, whole and byte by byte" do
        [[bytes.b], bytes.b.chars].each do |pieces|
          decoder = described_class.new
          expect { pieces.each { |piece| decoder.feed(piece) } }
            .to raise_error(an_instance_of(error).and(have_attributes(code:)))
        end
      end
    end

    it "comes after the messages that are before it" do
      stream = hello + hello + "\x81\x00".b
      messages = []
      expect { decoder.feed(stream) { |_, text| messages << text } }
        .to raise_error(WsUnmask::NotMaskedError, "frame is not masked")
      expect(messages).to eq %w[Hello Hello]
    end

    it "comes with the next call if there were messages to return" do
      expect(decoder.feed(hello + "\x81\x00".b)).to eq [[:text, "Hello"]]
      expect { decoder.feed("") }.to raise_error(WsUnmask::NotMaskedError)
    end

    it "stays" do
      expect { decoder.feed("\x81\x00".b) }.to raise_error(WsUnmask::NotMaskedError)
      expect { decoder.feed(hello) }.to raise_error(WsUnmask::NotMaskedError)
      expect { decoder.feed(hello) { nil } }.to raise_error(WsUnmask::NotMaskedError)
    end
  end

  describe "options" do
    it "limit the size of messages, over all fragments, and of frames" do
      decoder = described_class.new(max_message_size: 10)
      expect { decoder.feed(frame(:text, "x" * 6, fin: false) + frame(:continuation, "x" * 5)) }
        .to raise_error(WsUnmask::MessageTooBigError,
                        "message of 11 bytes or more is over the limit of 10")
      decoder = described_class.new(max_frame_size: 5)
      expect { decoder.feed(frame(:text, "x" * 6)) }
        .to raise_error(WsUnmask::MessageTooBigError, "frame of 6 bytes is over the limit of 5")
      expect(described_class.new(max_message_size: nil,
                                 max_frame_size: nil).feed(hello).size).to eq 1
    end

    it "let unmasked frames through, for a client" do
      expect(described_class.new(require_mask: false).feed("\x81\x05Hello".b + hello))
        .to eq [[:text, "Hello"], [:text, "Hello"]]
    end

    it "let reserved bits through, and say which, without a look at the text" do
      decoder = described_class.new(allow_reserved: [1, 3])
      compressed = "\xd1\x81\0\0\0\0\xff".b
      expect(decoder.feed(compressed + hello)).to eq [[:text, "\xff".b, [1, 3]],
                                                      [:text, "Hello", []]]
      expect(fed(compressed, decoder:)).to eq [[:text, "\xff".b, [1, 3]]]
      expect { decoder.feed("\xa1\x80".b) }
        .to raise_error(WsUnmask::ProtocolError, /RSV1 = 0, RSV2 = 1, RSV3 = 0/)
    end

    it "are refused if they make no sense" do
      expect { described_class.new(max_size: 1) }.to raise_error(ArgumentError, /max_size/)
      expect { described_class.new(1) }.to raise_error(ArgumentError)
      expect { described_class.new(allow_reserved: [4]) }.to raise_error(ArgumentError, /RSV1/)
      expect { described_class.new(max_message_size: -1) }.to raise_error(RangeError)
      expect { described_class.new(max_message_size: "1") }.to raise_error(TypeError)
    end
  end

  it "refuses what is no String" do
    expect { decoder.feed(nil) }.to raise_error(TypeError, "payload must be a String, not nil")
  end

  describe "its block" do
    let(:stream) { %w[one two three].map { |text| frame(:text, text) }.join }

    it "loses nothing by raising" do
      got = []
      expect { decoder.feed(stream) { |_, text| got << text and raise "no" } }.to raise_error("no")
      decoder.feed(frame(:text, "four")) { |_, text| got << text }
      expect(got).to eq %w[one two three four]
    end

    it "loses nothing by break and throw" do
      got = []
      decoder.feed(stream) { |_, text| got << text and break }
      catch(:out) { decoder.feed("") { |_, text| got << text and throw :out } }
      expect(decoder.feed("")).to eq [[:text, "three"]]
      expect(got).to eq %w[one two]
    end

    it "may not feed the decoder that is calling it" do
      expect { decoder.feed(stream) { decoder.feed(hello) } }
        .to raise_error(RuntimeError, /being fed already/)
      expect(decoder.feed("").map(&:last)).to eq %w[two three]
    end

    it "may do to the bytes what it wants" do
      [->(bytes) { bytes.clear }, ->(bytes) { bytes.replace("\xff" * 500) },
       ->(bytes) { bytes << ("x" * 100_000) }, lambda { |bytes|
                                                 bytes.setbyte(12, 0xff)
                                               }].each do |change|
        bytes = stream.dup
        got = []
        described_class.new.feed(bytes) { |_, text| change.call(bytes) and got << text }
        expect(got).to eq %w[one two three]
      end
    end
  end

  it "works under GC.stress" do
    stream = frame(:text, "x" * 100) + frame(:binary, "y" * 5000, fin: false) +
             frame(:continuation, "ü") + frame(:close, [1000].pack("n"))
    expected = fed(stream)
    GC.stress = true
    results = [fed(stream), fed(*stream.scan(/.{1,700}/mn)), decoder.feed(stream)]
    GC.stress = false
    expect(results).to all eq expected
  ensure
    GC.stress = false
  end

  it "works when objects are moved between the calls" do
    stream = frame(:text, "x" * 10_000, fin: false) + frame(:continuation, "y" * 10_000)
    messages = cut(stream).flat_map do |piece|
      GC.compact if GC.respond_to?(:compact)
      decoder.feed(piece)
    end
    expect(messages).to eq [[:text, ("x" * 10_000) + ("y" * 10_000)]]
  end

  describe "memory" do
    it "is not taken on a promise" do
      sizes = [[0xff, 2**62], [0xff, 60 << 20]].map do |second, length|
        decoder = described_class.new(max_message_size: nil)
        decoder.feed([0x82, second, length, "key!", "some bytes"].pack("CCQ>a4a*"))
        ObjectSpace.memsize_of(decoder)
      end
      expect(sizes).to all be < 1024
    end

    it "is little for ten thousand decoders that have seen half a header" do
      decoders = Array.new(10_000) do
        described_class.new.tap do |decoder|
          decoder.feed("\x81\xfe".b)
        end
      end
      expect(decoders.sum { |decoder| ObjectSpace.memsize_of(decoder) }).to be < 10_000 * 640
    end

    it "is given back when what came at once has been decoded" do
      empty = ObjectSpace.memsize_of(decoder)
      decoder.feed(hello * 100_000)
      expect(ObjectSpace.memsize_of(decoder)).to be_within(8 * 1024).of(empty)
    end

    it "is not taken for what comes after a fault" do
      expect { decoder.feed("\x81\x00".b + ("x" * 1000)) }.to raise_error(WsUnmask::NotMaskedError)
      failed = ObjectSpace.memsize_of(decoder)
      100.times do
        expect { decoder.feed("x" * 10_000) }.to raise_error(WsUnmask::NotMaskedError)
      end
      expect(ObjectSpace.memsize_of(decoder)).to eq failed
      expect(failed).to be < 640
    end

    it "is told truly" do
      bytes = frame(:binary, "x" * 1_000_000)
      empty = ObjectSpace.memsize_of(decoder)
      decoder.feed(bytes.byteslice(0, 500_000))
      expect(ObjectSpace.memsize_of(decoder)).to be_between(500_000, 1_100_000)
      decoder.feed(bytes.byteslice(500_000..))
      expect(ObjectSpace.memsize_of(decoder)).to eq empty
    end
  end
end
