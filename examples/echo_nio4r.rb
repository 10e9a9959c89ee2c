# frozen_string_literal: true

# An echo server of ws_unmask on an event loop: nio4r, which Puma and Action Cable stand on, too.
#
#   bundle exec ruby -Ilib examples/echo_nio4r.rb 9292
require "nio"
require "socket"
require "ws_unmask"

# One connection, and its place in the event loop.
class EchoPeer
  READ_SIZE = 64 * 1024
  DRAIN_SECONDS = 2
  BUFFER = String.new(capacity: READ_SIZE)

  # By when those have to have ended that are only read to their end.
  DEADLINES = {} # rubocop:disable Style/MutableConstant

  def self.clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def self.end_late_ones
    DEADLINES.select { |_, deadline| deadline < clock }.each_key(&:close)
  end

  def initialize(socket, selector)
    socket.setsockopt(:TCP, :NODELAY, true)
    @socket = socket
    @connection = WsUnmask::Connection.server(deflate: true)
    @monitor = selector.register(socket, :r)
    @monitor.value = method(:ready)
  end

  def ready
    return close if @monitor.readable? && read.nil?

    is_written = @connection.flush { |bytes| @socket.write_nonblock(bytes, exception: false) }
    # Who does not read the answers is not read from.
    @monitor.interests = is_written ? :r : :w
    drain if is_written && @connection.closed?
  rescue IOError, SystemCallError
    close # the peer has gone
  end

  def close
    DEADLINES.delete(self)
    @monitor.close
    @socket.close
  end

  private

  # Nil at the end.
  def read
    bytes = @socket.read_nonblock(READ_SIZE, BUFFER, exception: false)
    return bytes unless bytes.is_a?(String)

    @connection.receive(bytes) do |type, payload|
      case type
      when :text then @connection.text(payload)
      when :binary then @connection.binary(payload)
      end
    end
  end

  # A socket that is closed with unread bytes in it resets the connection, and the peer would never
  # see why. So it is told that nothing more comes, and what it still sends is read.
  def drain
    return if DEADLINES.key?(self)

    @socket.close_write
    DEADLINES[self] = EchoPeer.clock + DRAIN_SECONDS
  end
end

selector = NIO::Selector.new
server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 9292)))
selector.register(server, :r).value = lambda do
  EchoPeer.new(server.accept, selector)
end
loop do
  selector.select(1) { |monitor| monitor.value.call }
  EchoPeer.end_late_ones
end
