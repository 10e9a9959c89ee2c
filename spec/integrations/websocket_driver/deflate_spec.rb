# frozen_string_literal: true

require "objspace"
require "ws_unmask/websocket_driver"
require_relative "../../support/bomb"
require_relative "../../support/deflating_driver"
require_relative "../../support/frames"
require_relative "../../support/zlib_peer"

RSpec.describe WsUnmask::WebSocketDriver::Deflate do
  include Bomb
  include Frames

  subject(:deflate) { described_class.new }

  before { WsUnmask::WebSocketDriver.install }

  def opened(offer = "permessage-deflate", extension: deflate, **options)
    DeflatingDriver.new(extension, offer, **options)
  end

  def compressed(payload, type: :text, fin: true)
    frame(type, payload, fin:, rsv1: true)
  end

  describe "the handshake" do
    it "answers the first offer that it can accept" do
      expect(opened("permessage-deflate; client_max_window_bits").header).to eq "permessage-deflate"
      wanted = described_class.new(server_max_window_bits: 12, client_no_context_takeover: true)
      offers = "permessage-deflate; server_max_window_bits=8, " \
               "permessage-deflate; server_no_context_takeover"
      expect(opened(offers, extension: wanted).header)
        .to eq "permessage-deflate; client_no_context_takeover; server_max_window_bits=12; " \
               "server_no_context_takeover"
    end

    it "declines offers that it cannot accept, and then sends uncompressed messages" do
      ["x-other", "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits=08",
       "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
       'permessage-deflate; server_max_window_bits=""',
       "permessage-deflate; server_max_window_bits=10.5"].each do |offer|
        connection = opened(offer)
        expect(connection.header).to be_nil
        connection.driver.text("x" * 1000)
        expect(connection.frames).to eq [[false, "x" * 1000]]
      end
    end

    it "makes its offer, and accepts the server's answer to it" do
      wanted = described_class.new(server_no_context_takeover: true, client_max_window_bits: 10)
      session = wanted.create_client_session
      expect(session.generate_offer)
        .to eq("server_no_context_takeover" => true, "client_max_window_bits" => 10)
      expect(session.activate({ "server_no_context_takeover" => true })).to be true
      expect(session.activate({})).to be false
      expect(session.activate({ "server_no_context_takeover" => [true, true] })).to be false
    end

    it "is one that websocket-extensions accepts once" do
      extensions = WebSocket::Extensions.new
      extensions.add(deflate)
      expect { extensions.add(described_class.new) }.to raise_error(TypeError, /already registered/)
    end

    it "refuses options that Deflate and Encoder do not have" do
      expect { described_class.new(server_max_window_bits: 16) }.to raise_error(ArgumentError)
      expect { described_class.new(bits: 9) }.to raise_error(ArgumentError)
      expect { described_class.new(level: 10) }.to raise_error(ArgumentError, /level/)
      expect { described_class.new(threshold: nil) }.to raise_error(TypeError, /threshold/)
    end
  end

  describe "messages" do
    def some_message(random)
      case random.rand(4)
      when 0 then ""
      when 1 then "grüß dich, " * random.rand(3000)
      when 2 then random.bytes(random.rand(5000))
      else %({"user":#{random.rand(10)},"text":"message #{random.rand(1000)}"})
      end
    end

    def type_of(message) = message.encoding == Encoding::BINARY ? :binary : :text

    # @return [Array<String>] frames, one message compressed or not
    def frames_of(message, peer, random)
      type = type_of(message)
      return [frame(type, message)] if random.rand(4).zero?

      pieces = cut(peer.deflate(message), random:)
      pieces.each_with_index.map do |piece, i|
        frame(i.zero? ? type : :continuation, piece, fin: i == pieces.size - 1, rsv1: i.zero?)
      end
    end

    it "are exchanged with another implementation in both directions" do
      random = Random.new(RSpec.configuration.seed)
      [false, true].product([9, 12, 15]).each do |no_takeover, bits|
        peer = ZlibPeer.new(context_takeover: !no_takeover, window_bits: bits)
        wanted = described_class.new(
          client_no_context_takeover: no_takeover, server_no_context_takeover: no_takeover,
          client_max_window_bits: bits, server_max_window_bits: bits, threshold: 0
        )
        connection = opened("permessage-deflate; client_max_window_bits", extension: wanted)
        messages = Array.new(many(40)) { some_message(random) }
        stream = messages.flat_map { |message| frames_of(message, peer, random) }
        cut(stream.join, random:).each { |piece| connection.parse(piece) }
        expect(connection.events).to eq messages
        messages.each { |message| connection.driver.frame(message, type_of(message)) }
        back = connection.frames.map { |deflated, it| deflated ? peer.inflate(it) : it }
        expect(back).to eq messages.map(&:b)
      end
    end

    it "are the same when both the client and the server use it" do
      server = opened("permessage-deflate")
      client = described_class.new.create_client_session
      client.activate({})
      message = Struct.new(:data, :rsv1)
      ["Hello" * 100, "Hello" * 100, "grüß" * 50].each do |text|
        sent = client.process_outgoing_message(message.new(text, false))
        server.parse(frame(:text, sent.data, rsv1: sent.rsv1))
        server.driver.text(text)
        received = client.process_incoming_message(message.new(server.frames.last.last, true))
        expect([server.events.last.b, received.data]).to eq [text.b, text.b]
      end
    end

    it "are compressed from the threshold on, if that makes them shorter" do
      extension = described_class.new(threshold: 100, server_no_context_takeover: true)
      connection = opened(extension:)
      ["x" * 99, "x" * 100, Random.bytes(100), ""].each { |it| connection.driver.binary(it) }
      expect(connection.frames.map(&:first)).to eq [false, true, false, false]
    end

    it "are compressed with the level" do
      text = Array.new(500) { |i| %({"number":#{i * i},"name":"#{i}"}) }.join
      sizes = [1, 9].map do |level|
        connection = opened(extension: described_class.new(level:))
        connection.driver.text(text)
        connection.frames.last.last.bytesize
      end
      expect(sizes).to eq sizes.sort.reverse
    end

    it "may have a final block, and more behind it" do
      final = Zlib::Deflate.new(6, -15).deflate("Hello ", Zlib::FINISH)
      connection = opened
      2.times { connection.parse(compressed("#{final}\0".b)) }
      connection.parse(compressed(final + ["f248cdc9c90700"].pack("H*")))
      expect(connection.events).to eq ["Hello ", "Hello ", "Hello Hello"]
    end
  end

  describe "what the driver cannot accept" do
    it "is closed with 1010 if it is invalid DEFLATE, or ends within a block" do
      ["\xff\xff", "\xf2\x48\xcd"].each do |payload|
        connection = opened
        connection.parse(compressed(payload.b))
        expect(connection.events)
          .to eq ["permessage-deflate: message is not valid DEFLATE", 1010]
      end
    end

    it "is closed with 1007 if its text is not UTF-8" do
      connection = opened
      connection.parse(compressed(ZlibPeer.new.deflate("caf\xe9")))
      expect(connection.events.last).to eq 1007
    end

    it "is closed with 1009 if it is over the driver's limit, and not before" do
      payload = ZlibPeer.new.deflate("x" * 1000)
      at_limit = opened(max_length: 1000)
      at_limit.parse(compressed(payload))
      expect(at_limit.events).to eq ["x" * 1000]
      over = opened(max_length: 999)
      over.parse(compressed(payload) + hello)
      expect(over.events).to eq ["WebSocket frame length too large", 1009]
      expect(over.frames.last.last).to eq [1009, "WebSocket frame length too large"].pack("S>a*")
    end

    it "is closed with 1009, and then raised, if the app wants that" do
      WsUnmask::WebSocketDriver.raise_message_too_big = true
      connection = opened(max_length: 999)
      expect { connection.parse(compressed(ZlibPeer.new.deflate("x" * 1000))) }
        .to raise_error(WsUnmask::MessageTooBigError, /over max_length \(999 bytes\)/)
      expect(connection.events).to eq ["WebSocket frame length too large", 1009]
      expect { connection.parse(hello) }.not_to raise_error
    ensure
      WsUnmask::WebSocketDriver.raise_message_too_big = false
    end

    it "is discarded while the driver closes" do
      connection = opened(max_length: 999)
      connection.driver.close
      connection.parse(compressed(ZlibPeer.new.deflate("x" * 1000)))
      connection.parse(frame(:close, [1000].pack("n")))
      expect(connection.events).to eq [1000]
    end
  end

  it "respects the driver's default limit when the driver runs without ws_unmask" do
    WsUnmask::WebSocketDriver.uninstall
    connection = opened
    limit = WebSocket::Driver::MAX_LENGTH
    connection.parse(compressed(ZlibPeer.new.deflate("\0" * (limit + 1)), type: :binary))
    expect(connection.events)
      .to eq ["permessage-deflate: message of #{limit + 1} bytes or more is over the limit of " \
              "#{limit}", 1010]
  end

  Bomb::WAYS.each_key do |way|
    it "stops inflating a bomb at the limit #{way}: 1009, with less than 1 MiB more memory" do
      over, = explode(way, <<~RUBY, <<~CONNECTION)
        require "ws_unmask/websocket_driver"
        require "#{File.expand_path("../../support/driver_transcript", __dir__)}"
      RUBY
        socket = DriverTranscript::Connection.new(extensions: "permessage-deflate")
        driver = WebSocket::Driver.rack(socket, max_length: LIMIT)
        driver.add_extension(WsUnmask::WebSocketDriver::Deflate.new)
        driver.on(:message) { raise "a message" }
        driver.on(:close) { |event| throw :refused if event.code == 1009 }
        driver.start
        ->(bytes) { driver.parse(bytes) }
      CONNECTION
      expect(over).to be < 1 << 20
    end
  end

  it "gives its memory back when the connection closes" do
    connection = opened
    connection.parse(compressed(ZlibPeer.new.deflate("Hello")))
    connection.driver.text("x" * 1000)
    native = WsUnmask.const_get(:Native)
    GC.start
    held = lambda do
      [native::Inflater, native::Deflater].sum { |it| ObjectSpace.memsize_of_all(it) }
    end
    expect(held.call).to be > 300_000
    connection.parse(frame(:close, [1000].pack("n")))
    GC.start
    expect(held.call).to be < 300_000
  end
end
