# frozen_string_literal: true

# An echo server with Rack, Puma and ws_unmask: a full hijack of the socket, and a thread for each
# connection.
#
#   bundle exec puma -b tcp://127.0.0.1:9292 examples/echo.ru
require "socket"
require "ws_unmask"

# One connection, from the response to its end.
module Echo
  READ_SIZE = 64 * 1024
  DRAIN_SECONDS = 2

  def self.serve(socket, connection)
    # Without this, Nagle's algorithm and the peer's delayed acknowledgements add 40 ms. Puma's TLS
    # sockets have it set.
    socket.setsockopt(:TCP, :NODELAY, true) if socket.is_a?(TCPSocket)
    loop do
      # While a thread is in +write+ others run, and waiting for them takes more time than writing.
      until connection.flush { |bytes| socket.write_nonblock(bytes, exception: false) }
        socket.to_io.wait_writable
      end
      break if connection.closed?

      connection.receive(socket.readpartial(READ_SIZE)) do |type, payload|
        connection.text(payload) if type == :text
        connection.binary(payload) if type == :binary
        # Frees its memory now, while it is in the CPU's cache, not at the next GC.
        payload.clear if payload.is_a?(String)
      end
    end
    drain(socket)
  rescue IOError, SystemCallError
    nil # the peer has gone
  ensure
    socket.close
  end

  # Closing a socket that has unread bytes resets the connection, and the peer would not see the
  # close frame. So shut it down for writing, and read what the peer still sends.
  def self.drain(socket)
    socket.close_write if socket.respond_to?(:close_write) # Puma's TLS sockets cannot
    deadline = clock + DRAIN_SECONDS
    while (left = deadline - clock).positive? && socket.to_io.wait_readable(left)
      break unless socket.read_nonblock(READ_SIZE, exception: false)
    end
  end

  def self.clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

run(lambda do |env|
  connection = WsUnmask::Connection.accept(env, deflate: true)
  next connection.rejection unless connection.open?

  Thread.new(env["rack.hijack"].call) { |socket| Echo.serve(socket, connection) }
  [-1, {}, []]
end)
