# frozen_string_literal: true

module WsUnmask
  # What a close frame says (RFC 6455, section 5.5.1). A Struct, so it can be taken apart:
  # +code, reason = *payload+.
  #
  # @!attribute code
  #   @return [Integer, nil] the close code; nil if the frame was empty
  # @!attribute reason
  #   @return [String] why, in UTF-8, of at most 123 bytes; often empty
  Close = Struct.new(:code, :reason)
end
