# frozen_string_literal: true

require "stringio"
require_relative "../support/real_midori"
require_relative "../support/traffic"
require_relative "../support/with_and_without"

# The real Midori, with ws_unmask and without.
RSpec.describe "ws_unmask/midori" do
  unless RealMidori.activate
    it("works with Midori") { skip "which is not installed" }
    next
  end

  require "ws_unmask/midori"
  include Traffic

  include_context "with and without", WsUnmask::Midori

  # The result or error of decode, and the visible state afterwards.
  def decoded(data)
    socket = Midori::WebSocket.new(nil)
    result = begin
      socket.decode(data)
    rescue StandardError => e
      [e.class, e.message]
    end
    [result, socket.opcode, content(socket.msg), data.pos]
  end

  # Midori has bytes from 128 up as negative numbers.
  def content(message)
    message.is_a?(Array) ? message.map { |byte| byte & 255 } : [message, message&.encoding]
  end

  # Midori does not support longer ones, and raises a TypeError for incomplete ones.
  def short_frame(random)
    payload = some_payload(random).byteslice(0, 125)
    flags = [8, 8, 8, random.rand(16)].sample(random:)
    opcode = [1, 2, 9, 10, 8, random.rand(16)].sample(random:)
    key = random.bytes(4)
    [(flags << 4) | opcode, 128 | payload.bytesize].pack("CC") + key + Client.mask(payload.b, key)
  end

  it "is active" do
    expect(WsUnmask.installed).to include :midori
  end

  it "changes nothing for random frames up to 125 bytes but the sign of bytes" do
    expect_no_difference(times: 1000) do |random|
      bytes = short_frame(random)
      bytes.setbyte(1, bytes.getbyte(1) & 127) if random.rand(10).zero?
      data = StringIO.new("before#{bytes}after".b)
      data.pos = 6
      decoded(data)
    end
  end

  it "returns the bytes of binary frames from 0 to 255" do
    ours, theirs = both do
      socket = Midori::WebSocket.new(nil)
      socket.decode(StringIO.new(frame(:binary, "\x00\x7f\x80\xff")))
      socket.msg
    end
    expect(ours).to eq [0, 127, 128, 255]
    expect(theirs).to eq [0, 127, -128, -1]
  end

  it "raises with Midori's own messages" do
    { "\x01\x80\0\0\0\0" => Midori::Exception::ContinuousFrame,
      "\x83\x80\0\0\0\0" => Midori::Exception::OpCodeError,
      "\x80\x80\0\0\0\0" => Midori::Exception::OpCodeError,
      "\x81\x05Hello" => Midori::Exception::NotMasked,
      "\x88\x80\0\0\0\0" => Midori::Exception::FrameEnd }.each do |bytes, error|
      ours, theirs = both { decoded(StringIO.new(bytes.b)) }
      expect(ours).to eq theirs
      expect(ours.first.first).to be error
    end
  end

  it "continues to read after a close method that does not raise" do
    ours, theirs = both do
      socket = Midori::WebSocket.new(nil)
      def socket.close = nil
      socket.decode(StringIO.new(frame(:close, "\x03\xe8bye")))
      [socket.opcode, content(socket.msg)]
    end
    expect(ours).to eq theirs
  end

  it "reads from anything with getbyte and read, as from a StringIO" do
    frames = %i[text binary ping].product(["", "Hello", "grüß", "\xff\x00", "x" * 125])
    frames.each do |type, payload|
      source = StringIO.new(frame(type, payload))
      io = Struct.new(:source) do
        def getbyte = source.getbyte
        def read(length) = source.read(length)
        def pos = source.pos
      end
      expect(decoded(io.new(source))).to eq decoded(source.tap(&:rewind))
    end
  end

  it "reads payloads of any length" do
    [126, 65_535, 65_536].each do |length|
      expect(decoded(StringIO.new(frame(:text, "x" * length)))[2].first).to eq "x" * length
    end
  end

  it "raises EOFError for a frame that is cut, and refuses one of 2**62 bytes" do
    [hello.byteslice(0, 9), hello.byteslice(0, 1), ""].each do |bytes|
      expect(decoded(StringIO.new(bytes)).first.first).to be EOFError
    end
    huge = [0x82, 0xff, 1 << 62, "key!"].pack("CCQ>a4")
    expect(decoded(StringIO.new(huge)).first.first).to be WsUnmask::MessageTooBigError
  end

  it "does not patch a Midori whose decode is written in Ruby" do
    WsUnmask::Midori.uninstall
    original = Midori::WebSocket.instance_method(:decode)
    Midori::WebSocket.define_method(:decode) { |data| data }
    expect { expect(WsUnmask::Midori.install).to be false }.to output(//).to_stderr
    expect(WsUnmask::Midori::PATCHES.problem).to match(/not the C method/)
  ensure
    Midori::WebSocket.define_method(:decode, original)
    expect(WsUnmask::Midori.install).to be true
  end
end
