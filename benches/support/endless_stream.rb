# frozen_string_literal: true

require "io/stream"
require "protocol/websocket"

# An endless IO for a stream of io-stream: every read returns the same bytes.
class EndlessStream
  # @param bytes [String] whole frames
  # @return [Protocol::WebSocket::Connection]
  def self.connection(bytes)
    stream = IO::Stream::Buffered.new(new(bytes))
    Protocol::WebSocket::Connection.new(Protocol::WebSocket::Framer.new(stream))
  end

  def initialize(bytes)
    @bytes = bytes
  end

  def read_nonblock(_size, buffer, exception:) = (buffer.replace(@bytes) unless exception)
  def write(bytes) = bytes.bytesize
  def closed? = false
  def close = nil
end
