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

  # The messages, the bytes written in between, and the error or nil at the end.
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

  it "leaves keys of another length, and payloads that are not a String, to the library" do
    ["abc", "abcdefgh", "", [1, 2, 3, 4], 1].each do |mask|
      ours, theirs = both { unpacked("Hello", mask:) }
      expect(ours).to eq theirs
    end
    ours, theirs = both { Protocol::WebSocket::TextFrame.new(mask: key).pack(nil) }
    expect(ours.first).to eq theirs.first
  end

  it "lets a connection read what a client sends, including fragments and control frames" do
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

$LOAD_PATH.unshift(File.join(__dir__, "../doubles"))
require "old_protocol_websocket"

OldProtocolWebSocket::FRAMES.each do |frame_class|
  RSpec.describe "ws_unmask/protocol_websocket with #{frame_class}" do
    before(:context) do
      # It warns if the real library is not installed.
      stderr = $stderr
      $stderr = StringIO.new
      require "ws_unmask/protocol_websocket"
    ensure
      $stderr = stderr
    end

    integration = WsUnmask::Integration.new(name: :old, gem_name: "protocol-websocket",
                                            features: %w[old_protocol_websocket])
    patches = WsUnmask::PatchSet.new(integration) do |set|
      set.replace frame_class, WsUnmask::ProtocolWebSocket.const_get(:FrameWithoutMaskXor)
    end
    WsUnmask::PatchSet.all.delete(patches)

    include_context "with and without", patches

    before { expect(patches.install).to be true }
    after { patches.uninstall }

    def outcome
      yield
    rescue StandardError => e
      [e.class, e.message]
    end

    # The return value (:self for the frame itself), and the frame's state afterwards.
    def packed(frame, *arguments)
      result = outcome { frame.pack(*arguments) }
      [result.equal?(frame) ? :self : result, frame.length, frame.mask, *described(frame.payload)]
    end

    def described(string)
      [string, string.is_a?(String) ? [string.encoding, string.frozen?] : nil]
    end

    masks = ["\x37\xfa\x21\x3d".b, nil, false, "abc", "abcde", "", [1, 2, 3, 4], 1]
    payloads = ["", "Hello", "grüß", -"frozen", "grüß".encode("UTF-16LE"), Random.bytes(1000),
                nil, 1]

    describe "#pack" do
      masks.product([[], *payloads.map { |payload| [payload] }, %w[too many]]) do |mask, arguments|
        it "behaves like the library with mask #{mask.inspect} and #{arguments.inspect[0, 30]}" do
          ours, theirs = both { packed(frame_class.new(nil, mask), *arguments) }
          expect(ours).to eq theirs
        end
      end
    end

    describe "#unpack" do
      masks.product(payloads) do |mask, payload|
        it "behaves like the library with mask #{mask.inspect} and #{payload.inspect[0, 30]}" do
          ours, theirs = both do
            plain = outcome { frame_class.new(payload, mask).unpack }
            [*described(plain), plain.equal?(payload)]
          end
          expect(ours).to eq theirs
        end
      end
    end
  end
end
