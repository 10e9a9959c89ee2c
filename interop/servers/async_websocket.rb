# frozen_string_literal: true

# async-websocket with the drop-in. It echoes, and closes if it is told to: `close CODE REASON`.
#
#   ruby -Ilib interop/servers/async_websocket.rb 9292
require "ws_unmask/protocol_websocket"
require "async/http"
require "async/websocket"
require "async/websocket/adapters/http"

def serve(connection)
  while (message = connection.read)
    order, code, reason = message.buffer.b.split(" ", 3) if message.size < 100
    return connection.close(Integer(code), reason) if order == "close"

    message.send(connection)
    connection.flush
  end
end

Sync do
  endpoint = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{ARGV.fetch(0)}")
  app = ->(request) { Async::WebSocket::Adapters::HTTP.open(request) { |it| serve(it) } }
  Async::HTTP::Server.for(endpoint, &app).run.wait
end
