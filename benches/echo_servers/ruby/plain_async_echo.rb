# frozen_string_literal: true

# The lower limit for examples/echo_async.rb: it decodes and encodes nothing.
require "async"
require "digest/sha1"
require "socket"

def serve(socket)
  socket.setsockopt(:TCP, :NODELAY, true)
  key = socket.gets("\r\n\r\n").to_s[/^Sec-WebSocket-Key: (\S+)/i, 1] or return
  proof = Digest::SHA1.base64digest("#{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
               "Sec-WebSocket-Accept: #{proof}\r\n\r\n")
  buffer = String.new(capacity: 64 * 1024)
  loop { socket.write(socket.readpartial(64 * 1024, buffer)) }
rescue EOFError, SystemCallError
  socket.close
end

Async do |task|
  server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0)))
  loop do
    socket = server.accept
    task.async { serve(socket) }
  end
end
