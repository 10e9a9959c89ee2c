# frozen_string_literal: true

require "digest/sha1"
require "nio"
require "socket"
require "ws_unmask"

# The least that an echo server on an event loop can do: no control frames, no partial writes, no
# errors. What examples/echo_nio4r.rb takes more is the price of a Connection.
server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0)))
selector = NIO::Selector.new
listener = selector.register(server, :r)
buffer = String.new(capacity: 64 * 1024)
output = "".b
encoder = WsUnmask::Encoder.new

def accept(socket)
  socket.setsockopt(:TCP, :NODELAY, true)
  key = socket.gets("\r\n\r\n").to_s[/^Sec-WebSocket-Key: (\S+)/i, 1] or return
  proof = Digest::SHA1.base64digest("#{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
               "Sec-WebSocket-Accept: #{proof}\r\n\r\n")
end

loop do
  selector.select do |monitor|
    if monitor == listener
      client = server.accept
      selector.register(client, :r).value = WsUnmask::Decoder.new if accept(client)
    elsif (socket = monitor.io).read_nonblock(64 * 1024, buffer, exception: false)
      monitor.value.feed(buffer) do |type, payload|
        encoder.encode_into(output, type, payload)
        payload.clear
      end
      socket.write_nonblock(output)
      output.clear
    else
      monitor.close
      socket.close
    end
  end
end
