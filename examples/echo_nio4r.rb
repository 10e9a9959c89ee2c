# frozen_string_literal: true

# An echo server on an event loop with ws_unmask and nio4r, which Puma and Action Cable use, too.
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
  # Connections that are only read to their end, and their deadlines.
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
    # Do not read from a peer that does not read the replies.
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

  # Returns nil at the end.
  def read
    bytes = @socket.read_nonblock(READ_SIZE, BUFFER, exception: false)
    return bytes unless bytes.is_a?(String)

    @connection.receive(bytes) do |type, payload|
      @connection.text(payload) if type == :text
      @connection.binary(payload) if type == :binary
    end
  end

  # Closing a socket that has unread bytes resets the connection, and the peer would not see the
  # close frame. So shut it down for writing, and read what the peer still sends.
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
