# frozen_string_literal: true

require "socket"
require "stringio"
require_relative "../support/traffic"
require_relative "../support/with_and_without"

begin
  require "protocol/websocket"
rescue LoadError
  # It wants a newer Ruby than some that ws_unmask runs on.
end

RSpec.describe "ws_unmask/protocol_websocket" do
  unless defined?(Protocol::WebSocket)
    it("works with protocol-websocket") { skip "which is not installed: `rake matrix` has it" }
    next
  end

  require "ws_unmask/protocol_websocket"
  include_context "with and without", WsUnmask::ProtocolWebSocket

  let(:key) { "\x37\xfa\x21\x3d".b }

  def unpacked(payload, mask: key)
    Protocol::WebSocket::TextFrame.new(true, payload, mask:).unpack
  end

  include Traffic

  it "changes nothing for random traffic" do
    expect_no_difference { |random| received(random_frames(random).join) }
  end

  # Messages, what is written in between, and how it ends.
  def received(bytes)
    stream = Struct.new(:read_from, :written) do
      def read(length) = read_from.read(length)
      def write(string) = written << string
      def flush = nil
      def close = nil
    end.new(StringIO.new(bytes), [])
    connection = Protocol::WebSocket::Connection.new(Protocol::WebSocket::Framer.new(stream))
    messages = []
    begin
      while (message = connection.read)
        messages << [message.class, message.buffer, message.buffer.encoding]
      end
    rescue StandardError => e
      messages << [e.class, e.message]
    end
    [messages, stream.written]
  end

  it "is active" do
    expect(WsUnmask.installed).to include :protocol_websocket
  end

  it "unpacks and packs to the same Strings, in the same encoding, of the same class" do
    payloads = [*0..70, 125, 1000, 70_000].map { |length| Random.bytes(length) }
    payloads += ["grüß", -"Hello", "grüß".encode("UTF-16LE"), Class.new(String).new("abc")]
    payloads.each do |payload|
      results = both do
        plain = unpacked(payload)
        masked = Protocol::WebSocket::TextFrame.new(mask: key).pack(payload).payload
        [plain, masked].map { |string| [string, string.encoding, string.class, string.frozen?] }
      end
      expect(results[0]).to eq results[1]
    end
  end

  it "leaves the frame's payload as it is" do
    payload = Random.bytes(1000)
    before = payload.bytes
    expect(unpacked(payload).bytes).not_to eq before
    expect(payload.bytes).to eq before
  end

  it "leaves keys of another length, and what is no String, to the library" do
    ["abc", "abcdefgh", ""].each do |mask|
      ours, theirs = both { unpacked("Hello", mask:) }
      expect(ours).to eq theirs
    end
    ours, theirs = both { Protocol::WebSocket::TextFrame.new(mask: key).pack(nil) }
    expect(ours.first).to eq theirs.first
  end

  it "lets a connection read what a client sends, fragments and control frames among it" do
    pieces = ["Hel", "lo", "", " grüß" * 10_000]
    ours, theirs = both do
      client_end, server_end = Socket.pair(:UNIX, :STREAM)
      writer = Thread.new do
        framer = Protocol::WebSocket::Framer.new(client_end)
        pieces.each_with_index do |piece, i|
          frame = i.zero? ? Protocol::WebSocket::TextFrame : Protocol::WebSocket::ContinuationFrame
          framer.write_frame(frame.new(i == pieces.size - 1, mask: key).pack(piece))
          framer.write_frame(Protocol::WebSocket::PingFrame.new(true, mask: key).pack("ping"))
        end
        client_end
      end
      framer = Protocol::WebSocket::Framer.new(server_end)
      message = Protocol::WebSocket::Connection.new(framer).read
      writer.join
      [message.class, message.buffer, message.buffer.encoding]
    end
    expect(ours).to eq theirs
    expect(ours[1]).to eq pieces.join
  end
end

# The real thing is in no Debian: a double with the methods of protocol-websocket before 0.12.
RSpec.describe "ws_unmask/protocol_websocket with a Frame that has no mask_xor" do
  let(:frame_class) do
    require "ws_unmask/protocol_websocket"
    Class.new do
      attr_reader :payload, :length

      def initialize(payload, mask)
        @payload = payload
        @mask = mask
      end

      def pack(data)
        @length = data.bytesize
        @payload = @mask ? Client.mask(data.b, @mask) : data
        self
      end

      def unpack = @mask ? Client.mask(@payload, @mask) : @payload
    end
  end

  it "packs and unpacks as the loops did" do
    ours = Class.new(frame_class) { prepend WsUnmask::ProtocolWebSocket::FrameWithoutMaskXor }
    payloads = ["", "Hello", "grüß", Random.bytes(1000)]
    payloads.product(["\x37\xfa\x21\x3d".b, nil]).each do |payload, key|
      results = [ours, frame_class].map do |frame|
        packed = frame.new(nil, key).pack(payload)
        [packed.payload, packed.length, frame.new(packed.payload, key).unpack.b]
      end
      expect(results[0]).to eq results[1]
    end
  end
end
