# frozen_string_literal: true

module WsUnmask
  # The content of a close frame (RFC 6455, section 5.5.1). A Struct, so it can be destructured:
  # +code, reason = *close+. {Frame.encode} accepts one that a {Decoder} has returned.
  #
  # @!attribute code
  #   @return [Integer, nil] the close code; nil if the frame was empty
  # @!attribute reason
  #   @return [String] why, in UTF-8, of at most 123 bytes; often empty
  Close = Struct.new(:code, :reason) do
    # @return [String] the payload of the close frame, in ASCII-8BIT
    # @raise [ArgumentError] if the code is not a 16-bit Integer, if there is a reason but no code,
    #   or if the reason cannot be sent in UTF-8
    # @raise [TypeError] if the reason is not a String
    def to_payload
      text = reason || ""
      raise TypeError, "reason must be a String, not #{text.class}" unless text.is_a?(String)
      raise ArgumentError, "a reason needs a close code" if code.nil? && !text.empty?
      return "".b if code.nil?
      raise ArgumentError, "close code #{code.inspect} must not be sent" unless code?

      [code].pack("n") << bytes_of(text)
    end

    private

    # Bytes in ASCII-8BIT are treated as UTF-8, like the bytes of text.
    def bytes_of(text)
      text.encoding == Encoding::BINARY ? text : text.encode("UTF-8").b
    rescue EncodingError => e
      raise ArgumentError, "reason cannot be sent in UTF-8: #{e.message}"
    end

    def code? = code.is_a?(Integer) && code.between?(0, 0xffff)
  end
end
