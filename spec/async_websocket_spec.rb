# frozen_string_literal: true

require_relative "support/integration"

begin
  require "async/http"
  require "async/websocket"
  require "async/websocket/adapters/http"
rescue LoadError
  # It wants a newer Ruby than some that ws_unmask runs on.
end

# A real server, in a thread: async-http, async-websocket and ws_unmask, over a real socket.
RSpec.describe "ws_unmask/protocol_websocket in an async-websocket server" do
  unless defined?(Async::WebSocket)
    it("echoes") { skip "async-websocket is not installed: `rake matrix` has it" }
    next
  end

  around do |example|
    require "ws_unmask/protocol_websocket"
    listening = TCPServer.new("127.0.0.1", 0)
    @port = listening.addr[1]
    listening.close
    server = Thread.new { serve("http://127.0.0.1:#{@port}") }
    example.run
  ensure
    server.kill.join
  end

  def serve(url)
    Sync do
      endpoint = Async::HTTP::Endpoint.parse(url)
      Async::HTTP::Server.for(endpoint) { |request| echo(request) }.run.wait
    end
  end

  def echo(request)
    Async::WebSocket::Adapters::HTTP.open(request) do |connection|
      while (message = connection.read)
        message.send(connection)
        connection.flush
      end
    end
  end

  def open_client(&)
    attempts ||= 0
    Client.open(@port, &)
  rescue Errno::ECONNREFUSED
    (attempts += 1) < 100 ? sleep(0.05) && retry : raise
  end

  it "echoes masked texts, binaries and fragments of 0 bytes to 1 MiB" do
    open_client do |client|
      [0, 5, 125, 126, 1000, 65_536, 1 << 20].each do |size|
        client.send(:text, "x" * size)
        expect(client.receive.payload).to eq "x".b * size
        binary = Random.bytes(size)
        client.send(:binary, binary)
        expect(client.receive.payload).to eq binary
      end
      client.send(:text, "Hel", fin: false)
      client.send(:continuation, "lo")
      expect(client.receive.payload).to eq "Hello"
    end
  end
end
