# frozen_string_literal: true

require_relative "driver_transcript"

# A server's driver with an extension for compression, after the handshake.
class DeflatingDriver
  attr_reader :driver
  # The driver's events: data of messages, messages of errors, close codes.
  attr_reader :events

  # @param extension [Object, nil] for +add_extension+
  # @param offer [String] the client's Sec-WebSocket-Extensions
  def initialize(extension, offer = "permessage-deflate", **options)
    @socket = DriverTranscript::Connection.new(extensions: offer)
    @driver = WebSocket::Driver.rack(@socket, options)
    @driver.add_extension(extension)
    @events = []
    @driver.on(:message) { |event| @events << bytes_of(event.data) }
    @driver.on(:error) { |error| @events << error.message }
    @driver.on(:close) { |event| @events << event.code }
    @driver.start
  end

  def parse(bytes) = @driver.parse(bytes)

  # @return [String, nil] Sec-WebSocket-Extensions of the response
  def header = @socket.written.first.first[/^Sec-WebSocket-Extensions: (.*)\r$/, 1]

  # @return [Array] of each frame that was written since the handshake, whether it is compressed,
  #   and its payload
  def frames
    @socket.written.drop(1).map do |bytes,|
      frame = WsUnmask::Frame.decode(bytes, require_mask: false, allow_reserved: [1])
      [frame.rsv1?, frame.payload]
    end
  end

  private

  # Before websocket-driver 0.8, a binary message is an Array of Integers.
  def bytes_of(data) = data.is_a?(Array) ? data.pack("C*") : data
end
