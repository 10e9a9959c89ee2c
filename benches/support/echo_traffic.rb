# frozen_string_literal: true

require "json"
require_relative "../../examples/client"

# The bytes for a server, and the bytes that it has to send back.
class EchoTraffic
  HANDSHAKE = "GET %s HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n"
  CHANNEL = '{"channel":"EchoChannel"}'
  # The maximum bytes in a frame that it sends.
  IODINE = 12 * 1024
  private_constant :HANDSHAKE, :CHANNEL, :IODINE

  # @param text [String]
  # @param in_flight [Integer] how many messages at once
  def initialize(text, in_flight)
    @text = text
    @in_flight = in_flight
  end

  # @param kind [Symbol, nil] :plain for a server that sends back the bytes as they are, :cable for
  #   Action Cable, :fragments for iodine
  # @return [String] what the load generator reads
  def for(kind)
    strings = case kind
              when :cable then cable
              when :plain then [handshake, "", "", request, request]
              when :fragments then [handshake, "", "", request, answer(IODINE)]
              else [handshake, "", "", request, answer(@text.bytesize)]
              end
    "#{strings.map { |string| "#{string.bytesize}\n" }.join}#{strings.join}"
  end

  private

  def handshake(path = "/", headers = "")
    format(HANDSHAKE, path, headers)
  end

  def request
    @request ||= Client.frame(:text, @text) * @in_flight
  end

  def answer(most)
    last = (@text.bytesize - 1) / most
    frames = (0..last).map do |number|
      first_byte = (number == last ? 0x80 : 0) | (number.zero? ? 1 : 0)
      unmasked(@text.byteslice(number * most, most), first_byte)
    end
    frames.join * @in_flight
  end

  # A message of the same size, in its JSON.
  def cable
    empty = JSON.dump(command: "message", identifier: CHANNEL, data: '{"text":""}').bytesize
    text = @text.byteslice(0, [@text.bytesize - empty, 0].max).scrub("")
    message = { command: "message", identifier: CHANNEL, data: JSON.dump(text:) }
    answer = { identifier: CHANNEL, message: { text: } }
    [handshake("/cable", "Sec-WebSocket-Protocol: actioncable-v1-json\r\n"),
     Client.frame(:text, JSON.dump(command: "subscribe", identifier: CHANNEL)),
     '"type":"confirm_subscription"}',
     Client.frame(:text, JSON.dump(message)) * @in_flight,
     unmasked(JSON.dump(answer)) * @in_flight]
  end

  def unmasked(text, first_byte = 0x81)
    length = text.bytesize
    header = length < 126 ? [first_byte, length].pack("CC") : [first_byte, 126, length].pack("CCn")
    header << text.b
  end
end
