# frozen_string_literal: true

# A server with ws_unmask that obeys two commands from a client: `close CODE REASON`, and `ping`,
# which reports when the pong has arrived. It echoes everything else.
#
#   ruby -Ilib interop/servers/connection.rb 9292
require "socket"
require "ws_unmask"

def obey(connection, type, payload)
  order, code, reason = payload.b.split(" ", 3) if payload.bytesize < 100
  case order
  when "close" then connection.close(Integer(code), reason)
  when "ping" then connection.ping("ping")
  else connection.public_send(type, payload)
  end
end

def serve(socket)
  socket.setsockopt(:TCP, :NODELAY, true)
  connection = WsUnmask::Connection.server(deflate: true)
  until connection.closed?
    connection.receive(socket.readpartial(64 * 1024)) do |type, payload|
      obey(connection, type, payload) if %i[text binary].include?(type)
      connection.text("pong") if type == :pong && payload == "ping"
    end
    connection.flush { |bytes| socket.write(bytes) }
  end
  socket.close_write
  nil while socket.wait_readable(2) && socket.read_nonblock(64 * 1024, exception: false)
rescue IOError, SystemCallError
  nil # the client has gone
ensure
  socket.close
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0)))
loop { Thread.new(server.accept) { |socket| serve(socket) } }
