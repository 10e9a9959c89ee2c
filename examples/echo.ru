# frozen_string_literal: true

# An echo server that has nothing but ws_unmask for its WebSocket framing: Rack, Puma and a full
# hijack of the socket.
#
#   bundle exec puma -b tcp://127.0.0.1:9292 examples/echo.ru
require "digest/sha1"
require "socket"
require "ws_unmask"

# One connection, from the handshake to its end.
class EchoConnection
  GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  OPCODES = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 }.freeze
  READ_SIZE = 64 * 1024

  def initialize(socket)
    @socket = socket
    @decoder = WsUnmask::Decoder.new
    # Without this, Nagle's algorithm and the peer's delayed acknowledgements add 40 ms.
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def accept(key)
    answer = [Digest::SHA1.digest(key + GUID)].pack("m0") # RFC 6455, section 4.2.2
    @socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
                  "Connection: Upgrade\r\nSec-WebSocket-Accept: #{answer}\r\n\r\n")
  end

  def run
    buffer = String.new(capacity: READ_SIZE)
    until @decoder.closed?
      @decoder.feed(@socket.readpartial(READ_SIZE, buffer)) do |type, payload|
        answer(type, payload)
      end
    end
  rescue WsUnmask::ProtocolError => e
    write(:close, [e.code].pack("n"))
  rescue IOError, SystemCallError
    nil # the peer has gone
  ensure
    @socket.close
  end

  private

  def answer(type, payload)
    case type
    when :text, :binary then write(type, payload)
    when :ping then write(:pong, payload)
    when :close then write(:close, payload.code ? [payload.code].pack("n") : "")
    end
  end

  # Without a masking key: a server's frames are not masked (RFC 6455, section 5.1).
  def write(type, payload)
    @socket.write(WsUnmask::Frame.encode(OPCODES[type], payload))
  end
end

run(lambda do |env|
  unless env["HTTP_UPGRADE"]&.casecmp?("websocket")
    next [200, { "Content-Type" => "text/plain" }, ["a WebSocket echo server\n"]]
  end

  connection = EchoConnection.new(env["rack.hijack"].call)
  Thread.new do
    connection.accept(env["HTTP_SEC_WEBSOCKET_KEY"])
    connection.run
  end
  [-1, {}, []]
end)
