# frozen_string_literal: true

# What examples/echo.ru would take if it decoded and encoded nothing.
require "digest/sha1"
require "socket"

run(lambda do |env|
  key = env["HTTP_SEC_WEBSOCKET_KEY"] or next [400, {}, []]
  socket = env["rack.hijack"].call
  socket.setsockopt(:TCP, :NODELAY, true)
  proof = Digest::SHA1.base64digest("#{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
  Thread.new do
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
                 "Connection: Upgrade\r\nSec-WebSocket-Accept: #{proof}\r\n\r\n")
    loop { socket.write(socket.readpartial(64 * 1024)) }
  rescue EOFError, SystemCallError
    socket.close
  end
  [-1, {}, []]
end)
