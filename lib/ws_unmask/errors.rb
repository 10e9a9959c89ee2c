# frozen_string_literal: true

module WsUnmask
  # The peer has violated RFC 6455, or exceeded a limit. Send the close {#code} and close the
  # connection.
  class ProtocolError < StandardError
    # @return [Integer, nil] the position of the wrong byte: from the start of the stream for a
    #   {Decoder}, of the String for {Frame.decode}, of the frame for {Frame.read}
    attr_reader :offset

    # @param message [String, nil]
    # @param offset [Integer, nil] in bytes
    def initialize(message = nil, offset = nil)
      super(message)
      @offset = offset
    end

    # @return [Integer] the close code to send (RFC 6455, section 7.4.1)
    def code = 1002
  end

  # A frame without a masking key where one is required (RFC 6455, section 5.1).
  class NotMaskedError < ProtocolError; end

  # Text, or the reason in a close frame, that is not valid UTF-8 (RFC 6455, section 8.1); or a
  # compressed message that cannot be inflated (RFC 7692, section 7.2.2).
  class InvalidPayloadError < ProtocolError
    # (see ProtocolError#code)
    def code = 1007
  end

  # A frame or a message that exceeds its limit.
  class MessageTooBigError < ProtocolError
    # (see ProtocolError#code)
    def code = 1009
  end

  # The extensions in the opening handshake are malformed, or differ from the offer. A
  # server responds with 400, a client closes the connection (RFC 6455, sections 4.2.2 and 4.1).
  class NegotiationError < StandardError; end

  # The opening handshake of a {Connection} has failed.
  class HandshakeError < StandardError
    # @return [Integer] the HTTP status: for a server, the one to respond with; for a client, the
    #   one that it received, or 400 or 431 if the response is malformed or too long
    attr_reader :status
    # @return [Hash{String => String}] the headers that go with the status, in lower case
    attr_reader :headers

    # @param message [String, nil]
    # @param status [Integer]
    # @param headers [Hash{String => String}]
    def initialize(message = nil, status: 400, headers: {})
      super(message)
      @status = status
      @headers = headers
    end
  end
end
