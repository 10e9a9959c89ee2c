# frozen_string_literal: true

# An echo server that has nothing but ws_unmask for its WebSocket framing: Rack, Puma and a full
# hijack of the socket.
#
#   bundle exec puma -b tcp://127.0.0.1:9292 examples/echo.ru
require "digest/sha1"
require "io/wait"
require "socket"
require "ws_unmask"

# One connection, from the handshake to its end.
class EchoConnection
  GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  READ_SIZE = 64 * 1024
  DRAIN_SECONDS = 2

  # @param deflate [WsUnmask::Deflate::Agreement, nil]
  def initialize(socket, deflate)
    @socket = socket
    @deflate = deflate
    @decoder = WsUnmask::Decoder.new(deflate:)
    @encoder = WsUnmask::Encoder.new(deflate:) # which does not mask, as a server must not
    # Without this, Nagle's algorithm and the peer's delayed acknowledgements add 40 ms.
    return unless @socket.respond_to?(:setsockopt) # a TLS socket of Puma has it set already

    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def accept(key)
    answer = [Digest::SHA1.digest(key + GUID)].pack("m0") # RFC 6455, section 4.2.2
    extensions = "Sec-WebSocket-Extensions: #{@deflate.response}\r\n" if @deflate
    @socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
                  "Connection: Upgrade\r\nSec-WebSocket-Accept: #{answer}\r\n#{extensions}\r\n")
  end

  def run
    buffer = String.new(capacity: READ_SIZE)
    until @decoder.closed?
      @decoder.feed(@socket.readpartial(READ_SIZE, buffer)) do |type, payload|
        answer(type, payload)
      end
    end
  rescue WsUnmask::ProtocolError => e
    fail_connection(e)
  rescue IOError, SystemCallError
    nil # the peer has gone
  ensure
    @socket.close
  end

  private

  def answer(type, payload)
    case type
    when :ping then write(:pong, payload)
    when :text, :binary, :close then write(type, payload)
    end
  end

  def write(type, payload)
    @socket.write(@encoder.encode(type, payload))
  end

  # A socket that is closed with unread bytes in it resets the connection, and the peer would never
  # see the close code. So it is told that nothing more comes, and what it still sends is read.
  def fail_connection(error)
    write(:close, WsUnmask::Close.new(error.code, error.message))
    @socket.close_write
    deadline = clock + DRAIN_SECONDS
    while (left = deadline - clock).positive? && @socket.wait_readable(left)
      @socket.readpartial(READ_SIZE)
    end
  rescue IOError, SystemCallError
    nil # the peer has gone
  end

  def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

run(lambda do |env|
  unless env["HTTP_UPGRADE"]&.casecmp?("websocket")
    next [200, { "Content-Type" => "text/plain" }, ["a WebSocket echo server\n"]]
  end

  key = env["HTTP_SEC_WEBSOCKET_KEY"]
  next [400, { "Content-Type" => "text/plain" }, ["no key\n"]] unless key

  begin
    deflate = WsUnmask::Deflate.new.accept(env["HTTP_SEC_WEBSOCKET_EXTENSIONS"])
  rescue WsUnmask::NegotiationError => e
    next [400, { "Content-Type" => "text/plain" }, ["#{e.message}\n"]]
  end

  connection = EchoConnection.new(env["rack.hijack"].call, deflate)
  Thread.new do
    connection.accept(key)
    connection.run
  end
  [-1, {}, []]
end)
