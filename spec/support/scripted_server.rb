# frozen_string_literal: true

require "digest/sha1"
require "io/wait"
require "openssl"
require "socket"
require_relative "tls"

# A server for one client at a time, with TLS or without: it answers the opening handshake, and then
# does what it is told.
class ScriptedServer
  GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  private_constant :GUID

  # @param tls [Boolean]
  # @yieldparam socket [TCPSocket, OpenSSL::SSL::SSLSocket]
  # @yieldparam response [String] that of the handshake, to be written
  def initialize(tls: false, &script)
    @script = script
    @listening = TCPServer.new("127.0.0.1", 0)
    @url = "#{tls ? "wss" : "ws"}://localhost:#{@listening.addr[1]}/"
    @accepting = tls ? OpenSSL::SSL::SSLServer.new(@listening, self.class.context) : @listening
    @thread = Thread.new { loop { serve } }
  end

  attr_reader :url

  def stop
    @thread.kill.join
    @listening.close
  end

  def self.context
    @context ||= OpenSSL::SSL::SSLContext.new.tap do |context|
      context.key, context.cert = TLS.self_signed
    end
  end

  private

  def serve
    socket = @accepting.accept
    request = +""
    request << socket.gets until request.end_with?("\r\n\r\n")
    @script.call(socket, response(request[/^Sec-WebSocket-Key: (\S+)/i, 1]))
    drain(socket) unless socket.is_a?(OpenSSL::SSL::SSLSocket)
  rescue SystemCallError, IOError, OpenSSL::SSL::SSLError
    nil # the client has gone
  ensure
    socket&.close
  end

  # Closing a socket that has unread bytes resets the connection, and the client may then lose what
  # it was sent.
  def drain(socket)
    socket.close_write
    nil while socket.wait_readable(1) && socket.read_nonblock(4096, exception: false)
  end

  def response(key)
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
      "Sec-WebSocket-Accept: #{Digest::SHA1.base64digest(key + GUID)}\r\n\r\n"
  end
end
