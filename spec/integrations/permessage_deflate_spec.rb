# frozen_string_literal: true

require_relative "../support/bomb"
require_relative "../support/deflating_driver"
require_relative "../support/extra_gems"
require_relative "../support/frames"
require_relative "../support/traffic"
require_relative "../support/with_and_without"
require_relative "../support/zlib_peer"

RSpec.describe "ws_unmask/permessage_deflate" do
  unless ExtraGems.activate("permessage_deflate")
    it("works with permessage_deflate") { skip "which is not installed: gem install it" }
    next
  end

  require "ws_unmask/permessage_deflate"
  include_context "with and without", WsUnmask::PermessageDeflate
  include Bomb
  include Traffic

  def opened(offer = "permessage-deflate", extension: PermessageDeflate, **options)
    DeflatingDriver.new(extension, offer, **options)
  end

  def compressed(payload, type: :text)
    frame(type, payload, rsv1: true)
  end

  it "is active" do
    expect(WsUnmask.installed).to include :permessage_deflate
  end

  options = [{}, { level: 1 }, { level: 9, max_window_bits: 9 }, { no_context_takeover: true },
             { request_no_context_takeover: true, request_max_window_bits: 10 },
             { mem_level: 1 }, { strategy: Zlib::HUFFMAN_ONLY }, { max_window_bits: 8 }]
  offers = ["permessage-deflate", "permessage-deflate; client_max_window_bits",
            "permessage-deflate; client_max_window_bits=8; server_max_window_bits=12",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits=x"]

  it "does not change the negotiation" do
    options.product(offers) do |configuration, offer|
      extension = PermessageDeflate.configure(configuration)
      ours, theirs = both { opened(offer, extension:).header }
      expect(ours).to eq theirs
    end
    responses = [{}, { "server_no_context_takeover" => true, "server_max_window_bits" => 10 },
                 { "client_max_window_bits" => 9 }, { "client_max_window_bits" => true }]
    options.product(responses) do |configuration, response|
      ours, theirs = both do
        session = PermessageDeflate.configure(configuration).create_client_session
        [session.generate_offer, session.activate(response)]
      end
      expect(ours).to eq theirs
    end
  end

  # A peer's end in one direction, with the negotiated parameters.
  def peer_for(role, header)
    bits = header[/#{role}_max_window_bits=(\d+)/, 1] || 15
    ZlibPeer.new(window_bits: [bits.to_i, 9].max,
                 context_takeover: !header.include?("#{role}_no_context_takeover"))
  end

  # The events at both ends for random messages in both directions.
  def conversation(configuration, offer, random)
    connection = opened(offer, extension: PermessageDeflate.configure(configuration))
    header = connection.header
    sending = peer_for("client", header)
    receiving = peer_for("server", header)
    frames = Array.new(20) do
      text = ["Hello", "grüß " * random.rand(1..500), random.bytes(300).unpack1("H*")]
      text = text.sample(random:)
      random.rand(3).zero? ? frame(:text, text) : compressed(sending.deflate(text))
    end
    cut(frames.join, random:).each { |piece| connection.parse(piece) }
    connection.events.dup.each { |text| connection.driver.text(text) }
    sent = connection.frames.map { |deflated, it| deflated ? receiving.inflate(it) : [it] }
    [header, *connection.events, *sent].map { |it| it.to_s.size < 50 ? it : [it.size, it.hash] }
  end

  it "changes no message, whatever is negotiated" do
    options.product(offers.first(4)) do |configuration, offer|
      expect_no_difference(times: 2) { |random| conversation(configuration, offer, random) }
    end
  end

  it "changes nothing for a client" do
    ours, theirs = both do
      server = PermessageDeflate.create_server_session([{}]).tap(&:generate_response)
      client = PermessageDeflate.create_client_session
      client.generate_offer
      client.activate({})
      message = Struct.new(:data, :rsv1)
      ["Hello", "Hello" * 1000, "grüß".b].flat_map do |text|
        sent = client.process_outgoing_message(message.new(text.dup, false))
        got = server.process_incoming_message(message.new(sent.data.dup, true))
        back = server.process_outgoing_message(message.new(text.dup, false))
        [got.data.b, sent.rsv1, client.process_incoming_message(back).data.b]
      end
    end
    expect(ours).to eq theirs
  end

  it "leaves compression to Zlib if options are set that only Zlib has" do
    ours, theirs = both do
      connection = opened(extension: PermessageDeflate.configure(strategy: Zlib::HUFFMAN_ONLY))
      connection.driver.text("Hello" * 100)
      connection.frames.last.last
    end
    expect(ours).to eq theirs
  end

  it "leaves levels that are not zlib's own to the gem" do
    [nil, 2.5, 99].each do |level|
      ours, theirs = both do
        connection = opened(extension: PermessageDeflate.configure(level:))
        connection.driver.text("Hello" * 100)
        [connection.frames, connection.events]
      end
      expect(ours).to eq theirs
    end
  end

  it "inflates with any limit of the driver that is a number" do
    [100.5, 2**64, 2**70, Float::INFINITY].each do |max_length|
      ours, theirs = both do
        connection = opened(max_length:)
        connection.parse(compressed(ZlibPeer.new.deflate("Hello")))
        connection.events
      end
      expect(ours).to eq theirs
    end
  end

  it "uses the options that both support" do
    text = Array.new(500) { |i| %({"number":#{i * i},"name":"#{i}"}) }.join
    sizes = [1, 9].map do |level|
      connection = opened(extension: PermessageDeflate.configure(level:))
      connection.driver.text(text)
      connection.frames.last.last.bytesize
    end
    expect(sizes.first).to be > sizes.last
  end

  it "closes with 1009 for a message over the driver's limit, and for no other" do
    payload = ZlibPeer.new.deflate("x" * 1000)
    at_limit = opened(max_length: 1000)
    at_limit.parse(compressed(payload))
    expect(at_limit.events).to eq ["x" * 1000]
    over = opened(max_length: 999)
    over.parse(compressed(payload))
    expect(over.events).to eq ["WebSocket frame length too large", 1009]
  end

  it "closes with 1010 for invalid DEFLATE, as the gem does" do
    ours, theirs = both do
      connection = opened
      connection.parse(compressed("\xff\xff".b))
      connection.events.last
    end
    expect(ours).to eq theirs
    expect(ours).to eq 1010
  end

  it "leaves alone connections that were opened before, and those that are hooked" do
    WsUnmask::PermessageDeflate.uninstall
    before = opened
    WsUnmask::PermessageDeflate.install
    peer = ZlibPeer.new
    first, second = %w[Hello Hello].map { |text| compressed(peer.deflate(text)) }
    before.parse(first)
    WsUnmask::PermessageDeflate.uninstall
    before.parse(second)
    expect(before.events).to eq %w[Hello Hello]
    WsUnmask::PermessageDeflate.install
    after = opened
    after.parse(first)
    WsUnmask::PermessageDeflate.uninstall
    after.parse(second)
    expect(after.events).to eq %w[Hello Hello]
  end

  it "leaves the gem alone where websocket-driver runs without ws_unmask" do
    [WsUnmask::PermessageDeflate, WsUnmask::WebSocketDriver].each(&:uninstall)
    expect { expect(WsUnmask::PermessageDeflate.install).to be false }
      .to output("ws_unmask: permessage_deflate runs without ws_unmask, since websocket-driver " \
                 "runs without it, too\n").to_stderr
  ensure
    [WsUnmask::WebSocketDriver, WsUnmask::PermessageDeflate].each(&:install)
  end

  it "lets hooks see every message" do
    seen = in_child(<<~RUBY)
      $LOAD_PATH.unshift(*#{$LOAD_PATH.inspect})
      require "ws_unmask/permessage_deflate"
      require "#{File.expand_path("../support/deflating_driver", __dir__)}"
      require "#{File.expand_path("../support/zlib_peer", __dir__)}"
      PermessageDeflate::Session.prepend(Module.new do
        def process_incoming_message(message) = super.tap { puts "in" }
        def get_deflate = super.tap { puts "out" }
      end)
      connection = DeflatingDriver.new(PermessageDeflate)
      connection.parse(Client.frame(:text, ZlibPeer.new.deflate("Hello"), rsv1: true))
      connection.driver.text("Hello")
      p connection.events
    RUBY
    expect(seen).to eq %(in\nout\n["Hello"]\n)
  end

  Bomb::WAYS.each_key do |way|
    it "stops inflating a bomb at the limit #{way}: 1009, with less than 1 MiB more memory" do
      over, = explode(way, <<~RUBY, <<~CONNECTION)
        $LOAD_PATH.unshift(*#{$LOAD_PATH.inspect})
        require "ws_unmask/permessage_deflate"
        require "#{File.expand_path("../support/driver_transcript", __dir__)}"
      RUBY
        socket = DriverTranscript::Connection.new(extensions: "permessage-deflate")
        driver = WebSocket::Driver.rack(socket, max_length: LIMIT)
        driver.add_extension(PermessageDeflate)
        driver.on(:message) { raise "a message" }
        driver.on(:close) { |event| throw :refused if event.code == 1009 }
        driver.start
        ->(bytes) { driver.parse(bytes) }
      CONNECTION
      expect(over).to be < 1 << 20
    end
  end
end
