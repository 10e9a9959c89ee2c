# frozen_string_literal: true

# An echo server with ws_unmask on an event loop, nio4r, which Puma and Action Cable also use.
#
#   bundle exec ruby -Ilib examples/echo_nio4r.rb 9292
require "nio"
require "ws_unmask"

# The read buffer, shared by all connections.
BUFFER = String.new(capacity: 64 * 1024)
# Connections that are closing: we read what the peer still sends, until the deadline.
DRAINING = {} # rubocop:disable Style/MutableConstant

def serve(monitor, socket = monitor.io, connection = monitor.value)
  bytes = monitor.readable? ? socket.read_nonblock(64 * 1024, BUFFER) : ""
  connection.receive(bytes) do |type, payload|
    connection.text(payload) if type == :text
    connection.binary(payload) if type == :binary
    # Frees its memory now, while it is in the CPU's cache, not at the next GC.
    payload.clear if payload.is_a?(String)
  end
  is_written = connection.flush { |output| socket.write_nonblock(output, exception: false) }
  # Stops reading from clients that do not read the replies.
  monitor.interests = is_written ? :r : :w unless is_written && monitor.readable?
  drain(monitor) if is_written && connection.closed?
rescue IOError, SystemCallError => e
  close(monitor) unless e.is_a?(IO::WaitReadable) # otherwise the client has gone
end

# Closing a socket that has unread bytes resets the connection, and the client would not see the
# close frame. So shut it down for writing, and read what the client still sends.
def drain(monitor)
  monitor.io.close_write
  DRAINING[monitor] ||= Time.now + 2
end

def close(monitor)
  DRAINING.delete(monitor)
  [monitor, monitor.io].each(&:close)
end

def accept(server, selector)
  selector.register(server.accept_nonblock, :r).value = WsUnmask::Connection.server(deflate: true)
rescue SystemCallError
  sleep 0.01 # the client has gone, or waits in the backlog until a file descriptor is free
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 9292)))
# Without this, Nagle's algorithm and the peer's delayed acknowledgements add 40 ms. Accepted
# sockets inherit it.
server.setsockopt(:TCP, :NODELAY, true)
selector = NIO::Selector.new
listener = selector.register(server, :r)
puts "listening on ws://127.0.0.1:#{server.local_address.ip_port}"
loop do
  selector.select(1) { |monitor| monitor == listener ? accept(server, selector) : serve(monitor) }
  DRAINING.select { |_, deadline| deadline < Time.now }.each_key { |monitor| close(monitor) }
end
