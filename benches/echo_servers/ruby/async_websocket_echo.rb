# frozen_string_literal: true

# An echo server of async-websocket, with ws_unmask unless WS_UNMASK_DISABLE is set:
# ruby async_websocket_echo.rb PORT
require "async/http"
require "async/websocket/adapters/http"
require "ws_unmask/protocol_websocket"

Sync do
  endpoint = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{ARGV.fetch(0)}")
  server = Async::HTTP::Server.for(endpoint) do |request|
    Async::WebSocket::Adapters::HTTP.open(request) do |connection|
      while (message = connection.read)
        message.send(connection)
        connection.flush
      end
    end
  end
  server.run.wait
end
