# frozen_string_literal: true

# An echo server of ws_unmask on an event loop: nio4r, which Puma and Action Cable stand on, too.
#
#   bundle exec ruby -Ilib examples/echo_nio4r.rb 9292
require "nio"
require "ws_unmask"

# What is read, one connection after the other.
BUFFER = String.new(capacity: 64 * 1024)
# Connections that are only read to their end, and by when it has to come.
DRAINING = {} # rubocop:disable Style/MutableConstant

def serve(monitor, socket = monitor.io, connection = monitor.value)
  bytes = monitor.readable? ? socket.read_nonblock(64 * 1024, BUFFER) : ""
  connection.receive(bytes) do |type, payload|
    connection.text(payload) if type == :text
    connection.binary(payload) if type == :binary
  end
  is_written = connection.flush { |output| socket.write_nonblock(output, exception: false) }
  # Who does not read the answers is not read from.
  monitor.interests = is_written ? :r : :w
  drain(monitor) if is_written && connection.closed?
rescue IO::WaitReadable
  nil # there was nothing to read
rescue IOError, SystemCallError
  close(monitor) # the peer has gone
end

# A socket that is closed with unread bytes in it resets the connection, and the peer would never
# see why. So it is told that nothing more comes, and what it still sends is read.
def drain(monitor)
  monitor.io.close_write unless DRAINING.key?(monitor)
  DRAINING[monitor] ||= Time.now + 2
end

def close(monitor)
  DRAINING.delete(monitor)
  monitor.close
  monitor.io.close
end

# If there are no file descriptors left, clients wait in the backlog for a second.
def accept(listening, selector)
  socket = listening.io.accept_nonblock
  selector.register(socket, :r).value = WsUnmask::Connection.server(deflate: true)
rescue IO::WaitReadable, Errno::ECONNABORTED
  nil # the peer has gone
rescue Errno::EMFILE, Errno::ENFILE
  listening.interests = nil
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 9292)))
# Without this, Nagle's algorithm and the peer's delayed acknowledgements add 40 ms. What is
# accepted inherits it.
server.setsockopt(:TCP, :NODELAY, true)
selector = NIO::Selector.new
listening = selector.register(server, :r)
puts "listening on ws://127.0.0.1:#{server.local_address.ip_port}"
tick = Time.now
loop do
  selector.select(1) { |monitor| monitor == listening ? accept(monitor, selector) : serve(monitor) }
  next unless Time.now >= tick

  tick = Time.now + 1
  listening.interests = :r
  DRAINING.select { |_, deadline| deadline < Time.now }.each_key { |monitor| close(monitor) }
end
