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
  BUFFER = String.new(capacity: READ_SIZE)
  DRAIN_SECONDS = 2
  # Those that are only read to their end, and by when it has to come.
  DRAINING = {} # rubocop:disable Style/MutableConstant

  def initialize(socket, selector)
    socket.setsockopt(:TCP, :NODELAY, true)
    @socket = socket
    @connection = WsUnmask::Connection.server(deflate: true)
    @monitor = selector.register(socket, :r)
    @monitor.value = self
  end

  def call
    return close if @monitor.readable? && read.nil?

    is_written = @connection.flush { |bytes| @socket.write_nonblock(bytes, exception: false) }
    # Who does not read the answers is not read from.
    @monitor.interests = is_written ? :r : :w
    drain if is_written && @connection.closed?
  rescue IOError, SystemCallError
    close # the peer has gone
  end

  def close
    DRAINING.delete(self)
    @monitor.close
    @socket.close
  end

  private

  # Nil at the end.
  def read
    bytes = @socket.read_nonblock(READ_SIZE, BUFFER, exception: false)
    return bytes unless bytes.is_a?(String)

    @connection.receive(bytes) do |type, payload|
      @connection.text(payload) if type == :text
      @connection.binary(payload) if type == :binary
    end
  end

  # A socket that is closed with unread bytes in it resets the connection, and the peer would never
  # see why. So it is told that nothing more comes, and what it still sends is read.
  def drain
    @socket.close_write unless DRAINING.key?(self)
    DRAINING[self] ||= Time.now + DRAIN_SECONDS
  end
end

selector = NIO::Selector.new
server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 9292)))
selector.register(server, :r).value = -> { EchoPeer.new(server.accept, selector) }
loop do
  selector.select(1) { |monitor| monitor.value.call }
  EchoPeer::DRAINING.select { |_, deadline| deadline < Time.now }.each_key(&:close)
end
