# frozen_string_literal: true

require_relative "../support/extra_gems"
require_relative "../support/scripted_server"
require_relative "../support/traffic"
require_relative "../support/with_and_without"

# The real client, over real sockets, with ws_unmask and without.
RSpec.describe "ws_unmask/websocket_client_simple" do
  unless %w[event_emitter websocket-client-simple].all? { |name| ExtraGems.activate(name) }
    it("works with websocket-client-simple") { skip "which is not installed" }
    next
  end

  require "ws_unmask/websocket_client_simple"
  include Traffic

  include_context "with and without", WsUnmask::WebSocketClientSimple

  after { WebSocket.should_raise = false } # which the client sets for the whole process

  # The events, in order, of a client whose server writes the pieces.
  # @param habit [Symbol, nil] what the client does at its second message
  def seen(pieces, tls: false, habit: nil)
    server = ScriptedServer.new(tls:) do |socket, response|
      [response + pieces.first.to_s, *pieces.drop(1)].each { |piece| socket.write(piece) }
    end
    events = []
    behavior = method(:behave) # handlers run as methods of the client
    connected = Queue.new
    client = connect(server.url) do |connecting|
      connecting.on(:open) { events << :open }
      # Ignores the descriptor and the position in error messages, which are Ruby's.
      connecting.on(:error) do |error|
        events << [:error, error.class, error.message[/[^@]{,80}/].strip]
      end
      connecting.on(:close) { |error| events << [:close, error.class] }
      connecting.on(:message) do |message|
        events << [:message, message.class, message.type, message.data.hash, message.data.encoding,
                   message.code]
        if events.count { |event,| event == :message } == 2
          connected.pop # to close the client before would make its connect raise
          behavior.call(self, habit)
        end
      end
    end
    connected << true
    wait_for_the_end(client)
    events << [client.open?, client.closed?]
  ensure
    client&.close
    server&.stop
  end

  def connect(url, &)
    WebSocket::Client::Simple.connect(url, verify_mode: OpenSSL::SSL::VERIFY_NONE, &)
  end

  def behave(client, habit)
    case habit
    when :raise then raise "by the handler"
    when :close then client.close
    when :send then client.send("an answer")
    end
  end

  # The library sleeps when there is nothing more to read. A handler that closes ends its thread.
  def wait_for_the_end(client)
    sleep 0.002 until client.closed? || client.thread.backtrace.to_a.first.to_s.match?(/sleep'\z/)
    client.thread.join if client.closed?
  end

  it "is active, with the integration for the websocket gem" do
    expect(WsUnmask.installed).to include :websocket_client_simple, :websocket
  end

  [false, true].each do |tls|
    context tls ? "with TLS" : "without TLS" do
      it "changes nothing for random traffic in chunks of any size, whatever a handler does" do
        expect_no_difference(times: 8) do |random|
          frames = random_frames(random, masked: random.rand(8).zero?).map { |it| short(it) }
          habit = [nil, nil, :raise, :close, :send].sample(random:)
          seen(cut(frames.join, random:), tls:, habit:)
        end
      end

      it "receives texts and binaries of 0 bytes to 1 MiB in order" do
        WsUnmask::WebSocketClientSimple.install
        payloads = [0, 5, 125, 126, 1000, 65_536, 1 << 20].map { |size| Random.bytes(size) }
        bytes = payloads.map { |payload| WsUnmask::Frame.encode(:binary, payload) }.join
        events = seen([bytes.byteslice(0, 1000), bytes.byteslice(1000..)], tls:)
        expect(events.first).to be :open
        expect(events.grep(Array).filter_map { |event| event[3] if event.first == :message })
          .to eq(payloads.map { |payload| WebSocket::Frame::Data.new(payload).hash })
      end

      it "loses nothing that came with the handshake's last packet" do
        ours, theirs = both { seen(["\x81\x05Hello\x81\x02Hi".b], tls:) }
        expect(ours).to eq theirs
        expect(ours.count { |event,| event == :message }).to eq 2
      end

      it "continues after a handler has raised, without waiting for more bytes" do
        ours, theirs = both { seen(["\x81\x05Hello\x81\x02Hi\x81\x02Ho".b], tls:, habit: :raise) }
        expect(ours).to eq theirs
        expect(ours.map { |event,| event })
          .to eq [:open, :message, :message, :error, :message, true, :close]
      end

      it "ends in the middle of a frame as before" do
        ours, theirs = both { seen(["\x81\x05Hello\x81\x05Hel".b], tls:) }
        expect(ours).to eq theirs
      end

      it "can connect again, with the same object, too" do
        results = both do
          server = ScriptedServer.new(tls:) do |socket, response|
            socket.write("#{response}\x81\x05Hello".b)
            socket.read
          end
          texts = Queue.new
          client = connect(server.url) { |it| it.on(:message) { |message| texts << message.to_s } }
          first = texts.pop
          client.close
          client.connect(server.url, verify_mode: OpenSSL::SSL::VERIFY_NONE)
          [first, texts.pop, client.open?]
        ensure
          client.close
          server.stop
        end
        expect(results).to all eq ["Hello", "Hello", true]
      end
    end
  end

  # The library alone takes seconds for a long one.
  def short(frame)
    frame.bytesize > 5000 ? "\x82\x03abc".b : frame
  end

  it "connects when an application listens to the library's own event, too" do
    WsUnmask::WebSocketClientSimple.install
    frame = "none"
    [proc { frame }, :inspect.to_proc].each do |listener|
      server = ScriptedServer.new { |socket, response| socket.write(response) }
      client = connect(server.url) do |connecting|
        connecting.define_singleton_method(:once) do |*arguments, &block| # as if :open came early
          super(*arguments, &block)
          on(:__close, &listener)
        end
      end
      reader = client.instance_variable_get(:@socket).method(:getc).owner
      expect(reader.name).to eq "WsUnmask::WebSocketClientSimple::ReadAhead"
    ensure
      client&.close
      server&.stop
    end
  end

  it "reports a server's refusal as the library does" do
    ours, theirs = both do
      server = ScriptedServer.new { |socket, _| socket.write("HTTP/1.1 404 Not Found\r\n\r\nNo") }
      errors = []
      client = connect(server.url) { |it| it.on(:error) { |error| errors << error.class } }
      wait_for_the_end(client)
      [errors, client.open?]
    ensure
      client.close
      server.stop
    end
    expect(ours).to eq theirs
    expect(ours.first).not_to be_empty
  end

  it "reads a message of 700 KB in far fewer pieces than bytes" do
    WsUnmask::WebSocketClientSimple.install
    going_on = Queue.new # until it is connected, the library reads by itself
    server = ScriptedServer.new do |socket, response|
      socket.write(response)
      going_on.pop
      socket.write(WsUnmask::Frame.encode(:text, "x" * 700_000))
      socket.read
    end
    messages = Queue.new
    client = connect(server.url) { |it| it.on(:message) { |message| messages << message.to_s } }
    pieces = 0
    trace = TracePoint.new(:call) { pieces += 1 }
    trace.enable(target: WebSocket::Frame::Incoming.instance_method(:<<)) do
      going_on << true
      expect(messages.pop.bytesize).to eq 700_000
    end
    expect(pieces).to be_between(1, 7000)
  ensure
    client.close
    server.stop
  end

  it "reads frame by frame after the integration for the websocket gem is removed within a frame" do
    WsUnmask::WebSocketClientSimple.install
    messages = Queue.new
    going_on = Queue.new
    server = ScriptedServer.new do |socket, response|
      socket.write("#{response}\x81\x05Hello\x82\x7e\x03\xe8".b + ("x" * 500))
      going_on.pop
      socket.write("#{"x" * 500}\x81\x02Hi\x81\x02Ho".b)
      socket.read
    end
    client = connect(server.url) { |it| it.on(:message) { |message| messages << message.to_s } }
    texts = [messages.pop]
    WsUnmask::WebSocketGem.uninstall
    going_on << true
    expect(texts + Array.new(3) { messages.pop }).to eq ["Hello", "x" * 1000, "Hi", "Ho"]
  ensure
    client.close
    server.stop
    WsUnmask::WebSocketGem.install
  end

  it "closes from another thread while it waits for the rest of a frame" do
    ours, theirs = both do
      server = ScriptedServer.new do |socket, response|
        socket.write("#{response}\x81\x05Hel".b)
        socket.read
      end
      events = []
      client = connect(server.url) do |it|
        it.on(:open) { events << :open }
        it.on(:close) { events << :close }
      end
      sleep 0.01 until events == [:open]
      client.close
      client.thread.join
      [events, client.open?, client.closed?]
    ensure
      server.stop
    end
    expect(ours).to eq theirs
    expect(ours).to eq [%i[open close], false, true]
  end

  it "reports a frame over the limit as before" do
    limit = WebSocket.max_frame_size
    WebSocket.max_frame_size = 900
    ours, theirs = both { seen(["\x81\x02Hi\x82\x7e\x03\xe8".b, "x" * 20]) }
    expect(ours).to eq theirs
    expect(ours).to include [:error, WebSocket::Error::Frame::TooLong, anything]
  ensure
    WebSocket.max_frame_size = limit
  end

  it "does not patch a version whose loop it does not know" do
    WsUnmask::WebSocketClientSimple.uninstall
    client = WebSocket::Client::Simple::Client
    original = client.instance_method(:connect)
    file = original.source_location.first
    client.class_eval("def connect(url, options={}); end", file) # rubocop:disable Style/EvalWithLocation
    expect { expect(WsUnmask::WebSocketClientSimple.install).to be false }.to output(//).to_stderr
    expect(WsUnmask::WebSocketClientSimple::PATCHES.problem).to match(/#connect is not from/)
  ensure
    client.define_method(:connect, original)
    expect(WsUnmask::WebSocketClientSimple.install).to be true
  end
end
