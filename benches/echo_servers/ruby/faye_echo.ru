# frozen_string_literal: true

# examples/faye_echo.ru without ws_unmask.
require "faye/websocket"

Faye::WebSocket.load_adapter("puma")

run(lambda do |env|
  next [200, {}, []] unless Faye::WebSocket.websocket?(env)

  socket = Faye::WebSocket.new(env)
  socket.on(:message) { |event| socket.send(event.data) }
  socket.rack_response
end)
