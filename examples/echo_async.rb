# frozen_string_literal: true

# An echo server on fibers with ws_unmask and async, which Falcon is built on. It uses Ruby's own
# sockets.
#
#   bundle exec ruby -Ilib examples/echo_async.rb 9292
require "async"
require "socket"
require "ws_unmask"

READ_SIZE = 64 * 1024

# One connection, from the request to its end.
def serve(socket)
  connection = WsUnmask::Connection.server(deflate: true)
  buffer = String.new(capacity: READ_SIZE)
  until connection.closed?
    connection.receive(socket.readpartial(READ_SIZE, buffer)) do |type, payload|
      connection.text(payload) if type == :text
      connection.binary(payload) if type == :binary
      # Frees its memory now, while it is in the CPU's cache, not at the next GC.
      payload.clear if payload.is_a?(String)
    end
    # Fewer system calls than +write+, which asks the scheduler each time.
    until connection.flush { |bytes| socket.write_nonblock(bytes, exception: false) }
      socket.wait_writable
    end
  end
  drain(socket, buffer)
rescue IOError, SystemCallError
  nil # the peer has gone
ensure
  socket.close
end

# Closing a socket that has unread bytes resets the connection, and the peer would not see the close
# frame. So shut it down for writing, and read what the peer still sends.
def drain(socket, buffer)
  socket.close_write
  Async::Task.current.with_timeout(2) { loop { socket.readpartial(READ_SIZE, buffer) } }
rescue Async::TimeoutError
  nil # it does not stop sending
end

Async do |task|
  server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 9292)))
  puts "listening on ws://127.0.0.1:#{server.local_address.ip_port}"
  # Without this, Nagle's algorithm and the peer's delayed acknowledgements add 40 ms. Accepted
  # sockets inherit it.
  server.setsockopt(:TCP, :NODELAY, true)
  loop do
    task.async(server.accept) { |_, socket| serve(socket) }
  rescue SystemCallError
    sleep 0.1 # the client has gone, or waits in the backlog until a file descriptor is free
  end
end
