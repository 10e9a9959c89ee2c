# frozen_string_literal: true

require "securerandom"
require "socket"

# A small WebSocket client on a real socket. It masks in plain Ruby, independently of ws_unmask, so
# that it can be used to test it.
class Client
  OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 }.freeze
  private_constant :OPCODES

  Frame = Struct.new(:fin, :opcode, :payload)

  def self.open(port, path = "/")
    client = new(port, path)
    yield client
  ensure
    client&.disconnect
  end

  # A client's frame, masked as in RFC 6455, section 5.3.
  def self.frame(type, payload, fin: true, rsv1: false, key: SecureRandom.bytes(4))
    length = payload.bytesize
    header = [(fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | OPCODES.fetch(type)].pack("C")
    header << if length < 126 then [0x80 | length].pack("C")
              elsif length < 65_536 then [0x80 | 126, length].pack("Cn")
              else
                [0x80 | 127, length].pack("CQ>")
              end
    header << key << mask(payload, key)
  end

  # XORs all bytes as one large Integer: the fastest way in plain Ruby.
  def self.mask(payload, key)
    return "".b if payload.empty?

    length = payload.bytesize
    repeated = (key * ((length / 4) + 1)).byteslice(0, length)
    plain = payload.unpack1("H*").to_i(16) ^ repeated.unpack1("H*").to_i(16)
    [plain.to_s(16).rjust(length * 2, "0")].pack("H*")
  end

  def initialize(port, path = "/")
    @socket = TCPSocket.new("127.0.0.1", port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n" \
                  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
                  "Sec-WebSocket-Key: #{SecureRandom.base64(16)}\r\n\r\n")
    status = @socket.gets
    raise "no WebSocket handshake: #{status}" unless status&.include?(" 101 ")

    nil until @socket.gets == "\r\n"
  end

  def send(type, payload, fin: true)
    write(self.class.frame(type, payload.b, fin:))
  end

  def write(bytes)
    @socket.write(bytes)
  end

  # The next frame from the server, or nil if it closed the connection.
  def receive
    first, second = @socket.read(2)&.bytes
    return unless second

    length = second & 0x7f
    length = @socket.read(2).unpack1("n") if length == 126
    length = @socket.read(8).unpack1("Q>") if length == 127
    Frame.new(first.anybits?(0x80), first & 0x0f, @socket.read(length))
  end

  # Linux delays the next acknowledgement, by 40 ms if nothing is sent meanwhile.
  def delay_acknowledgement
    @socket.setsockopt(:TCP, :QUICKACK, false)
  end

  def disconnect
    @socket.close
  end
end
