# frozen_string_literal: true

require "stringio"
require_relative "../../support/bomb"
require_relative "../../support/frames"
require_relative "../../support/with_and_without"
require_relative "../../support/zlib_peer"

begin
  require "protocol/websocket/extensions"
rescue LoadError
  # It wants a newer Ruby than some that ws_unmask runs on.
end

RSpec.describe "ws_unmask/protocol_websocket with compression" do
  unless defined?(Protocol::WebSocket::Extension::Compression)
    it("works with protocol-websocket") { skip "which is not installed: `rake matrix` has it" }
    next
  end

  require "protocol/websocket"
  require "ws_unmask/protocol_websocket"
  include_context "with and without", WsUnmask::ProtocolWebSocket
  include Bomb
  include Frames

  before { WsUnmask::ProtocolWebSocket.install }

  after do
    WsUnmask::ProtocolWebSocket.install
    WsUnmask::ProtocolWebSocket.limit
  end

  compression = Protocol::WebSocket::Extension::Compression

  # The input, and the bytes written.
  stream_class = Struct.new(:input, :output) do
    def read(length) = input.read(length)
    def write(bytes) = output << bytes
    def flush = nil
    def close = nil
  end

  define_method(:connection) do |input = "", role: :server, **options|
    stream = stream_class.new(StringIO.new(input), +"".b)
    mask = "\x37\xfa\x21\x3d".b if role == :client
    framer = Protocol::WebSocket::Framer.new(stream)
    opened = Protocol::WebSocket::Connection.new(framer, mask:)
    compression.public_send(role, opened, **options)
    [opened, stream]
  end

  def compressed(payload, type: :text, **options)
    frame(type, payload, rsv1: true, **options)
  end

  # @return [Array<String>] payloads, inflated
  def read_by(peer, bytes)
    decoder = WsUnmask::Decoder.new(require_mask: bytes.getbyte(1) > 127, allow_reserved: [1])
    decoder.feed(bytes).map do |_, payload, reserved|
      reserved == [1] ? peer.inflate(payload) : payload
    end
  end

  options = [{}, { client_no_context_takeover: true, server_no_context_takeover: true },
             { client_max_window_bits: 9, server_max_window_bits: 10 }, { level: 1 },
             { memory_level: 1 }, { strategy: Zlib::HUFFMAN_ONLY }]

  options.product(%i[server client]).each do |negotiated, role|
    it "changes no message of a #{role} with #{negotiated}" do
      context_takeover = !negotiated.key?(:client_no_context_takeover)
      expect_no_difference(times: 3) do |random|
        peer = ZlibPeer.new(window_bits: 9, context_takeover:)
        texts = Array.new(10) do
          ["Hello", "grüß " * random.rand(1..500), random.bytes(99).unpack1("H*")].sample(random:)
        end
        frames = texts.flat_map do |text|
          pieces = cut(peer.deflate(text), random:)
          pieces.each_with_index.map do |piece, i|
            frame(i.zero? ? :text : :continuation, piece, rsv1: i.zero?, fin: i == pieces.size - 1)
          end
        end
        opened, stream = connection(frames.join, role:, **negotiated)
        received = texts.map { opened.read.to_str }
        received.each { |text| opened.send_text(text) }
        sent = read_by(ZlibPeer.new(context_takeover:), stream.output)
        [received, received.map(&:encoding), sent]
      end
    end
  end

  it "inflates and deflates natively" do
    opened, stream = connection(compressed(ZlibPeer.new.deflate("Hello")))
    opened.send_text(opened.read.to_str)
    expect(opened.reader.instance_variable_get(:@inflate)).to be_nil
    expect(opened.writer.instance_variable_get(:@deflate)).to be_nil
    expect(read_by(ZlibPeer.new, stream.output)).to eq ["Hello"]
  end

  it "leaves compression to Zlib if options are set that only Zlib has" do
    ours, theirs = both do
      opened, stream = connection(strategy: Zlib::HUFFMAN_ONLY)
      opened.send_text("Hello" * 100)
      stream.output
    end
    expect(ours).to eq theirs
  end

  it "leaves levels that are not Zlib's own to the library" do
    [nil, 99].each do |level|
      ours, theirs = both do
        opened, stream = connection(level:)
        opened.send_text("Hello" * 100)
        stream.output
      rescue Zlib::StreamError => e
        e.message
      end
      expect(ours).to eq theirs
    end
  end

  it "leaves alone connections that were opened before, and those whose methods are hooked" do
    peer = ZlibPeer.new
    bytes = %w[Hello Hello].map { |text| compressed(peer.deflate(text)) }.join
    %i[install uninstall].permutation do |first, second|
      WsUnmask::ProtocolWebSocket.public_send(first)
      opened, = connection(bytes)
      expect(opened.read.to_str).to eq "Hello"
      WsUnmask::ProtocolWebSocket.public_send(second)
      expect(opened.read.to_str).to eq "Hello"
    end
  end

  it "has no limit by default, and closes with 1009 above the limit" do
    bytes = compressed(ZlibPeer.new.deflate("x" * 1000))
    expect(connection(bytes).first.read.to_str).to eq "x" * 1000
    WsUnmask::ProtocolWebSocket.limit(max_message_size: 1000)
    expect(connection(bytes).first.read.to_str).to eq "x" * 1000
    WsUnmask::ProtocolWebSocket.limit(max_message_size: 999)
    opened, stream = connection(bytes)
    expect { opened.read }
      .to raise_error(Protocol::WebSocket::ProtocolError, /over the limit of 999/)
    expect(stream.output.byteslice(2, 2).unpack1("n")).to eq 1009
  end

  it "raises what the library raises for invalid DEFLATE" do
    ours, theirs = both { connection(compressed("\xff\xff".b)).first.read }
    expect(ours.first).to eq theirs.first
    expect(ours.first).to eq Zlib::DataError
  end

  Bomb::WAYS.each_key do |way|
    it "stops inflating a bomb at the limit #{way}: 1009, with less than 1 MiB more memory" do
      over, = explode(way, <<~RUBY, <<~'CONNECTION')
        $LOAD_PATH.unshift(*#{$LOAD_PATH.inspect})
        require "protocol/websocket"
        require "ws_unmask/protocol_websocket"
        WsUnmask::ProtocolWebSocket.limit(max_message_size: LIMIT)
        # A stream whose reads wait for more input.
        class Stream
          def initialize = @bytes = +"".b
          def feed(bytes) = @bytes << bytes
          def read(length)
            Fiber.yield while @bytes.bytesize < length
            @bytes.slice!(0, length)
          end
          def write(bytes) = nil
          def flush = nil
          def close = nil
        end
      RUBY
        stream = Stream.new
        connection = Protocol::WebSocket::Connection.new(Protocol::WebSocket::Framer.new(stream))
        Protocol::WebSocket::Extension::Compression.server(connection)
        reading = Fiber.new do
          connection.read and raise "a message"
        rescue Protocol::WebSocket::ProtocolError => error
          error.code
        end
        lambda do |bytes|
          stream.feed(bytes)
          throw :refused if reading.resume == 1009
        end
      CONNECTION
      expect(over).to be < 1 << 20
    end
  end
end
