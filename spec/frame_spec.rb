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

  it "works under GC.stress" do
    payloads = ["x" * 100, "y" * 5000, "ü" * 100, ""]
    bytes = payloads.map { |payload| frame(:text, payload) }
    GC.stress = true
    frames = bytes.flat_map do |frame|
      [described_class.decode(frame), described_class.read(StringIO.new(frame))]
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
