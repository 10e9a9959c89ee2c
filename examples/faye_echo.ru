# frozen_string_literal: true

# An echo server: Rack, Puma and faye-websocket. The first require is all that ws_unmask needs.
#
#   bundle exec puma -b tcp://127.0.0.1:9292 examples/faye_echo.ru
require "ws_unmask/websocket_driver"
require "faye/websocket"

Faye::WebSocket.load_adapter("puma")

run(lambda do |env|
  unless Faye::WebSocket.websocket?(env)
    next [200, { "Content-Type" => "text/plain" },
          ["an echo server; active: #{WsUnmask.installed.inspect}\n"]]
  end

  socket = Faye::WebSocket.new(env)
  socket.on(:message) { |event| socket.send(event.data) }
  socket.rack_response
end)
