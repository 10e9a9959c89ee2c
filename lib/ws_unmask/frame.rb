# frozen_string_literal: true

module WsUnmask
  # One frame (RFC 6455, section 5.2), for servers that want to see frames rather than messages.
  #
  # @example
  #   io = StringIO.new(["818537fa213d7f9f4d5158"].pack("H*"))
  #   frame = WsUnmask::Frame.read(io)
  #   frame.type    # => :text
  #   frame.payload # => "Hello"
  #   WsUnmask::Frame.read(io) # => nil, the end
  class Frame
    # @!method self.read(io, max_frame_size: 64 * 1024 * 1024, require_mask: true, allow_reserved: [])
    #   Reads one frame, and no byte more than that.
    #   @param io [IO, StringIO, #getbyte, #read] where it is read from; +read(n)+ blocks until n
    #     bytes or the end have come
    #   @param max_frame_size [Integer, nil] the most bytes of a payload; nil for no limit
    #   @param require_mask [Boolean] whether the frame has to be masked: true for a server
    #   @param allow_reserved [Array<Integer>] the reserved bits that may be set
    #   @return [Frame, nil] nil at the end of +io+
    #   @raise [EOFError] if +io+ ends inside of the frame
    #   @raise [ProtocolError] if the frame is against the protocol or over the limit

    # @!method self.decode(string, max_frame_size: 64 * 1024 * 1024, require_mask: true, allow_reserved: [])
    #   Decodes the frame at the start of a String; what follows it is left alone.
    #   @param string [String]
    #   @param max_frame_size [Integer, nil] the most bytes of a payload; nil for no limit
    #   @param require_mask [Boolean] whether the frame has to be masked: true for a server
    #   @param allow_reserved [Array<Integer>] the reserved bits that may be set
    #   @return [Frame, nil] nil if +string+ is empty
    #   @raise [EOFError] if +string+ ends inside of the frame
    #   @raise [ProtocolError] if the frame is against the protocol or over the limit

    # @!method fin?
    #   @return [Boolean] whether it is the last fragment of its message

    # @!method opcode
    #   @return [Integer] 0 to 2, or 8 to 10

    # @!method type
    #   @return [Symbol] +:continuation+, +:text+, +:binary+, +:close+, +:ping+ or +:pong+

    # @!method rsv1?
    #   @return [Boolean] whether the first reserved bit is set

    # @!method rsv2?
    #   @return [Boolean] whether the second reserved bit is set

    # @!method rsv3?
    #   @return [Boolean] whether the third reserved bit is set

    # @!method masked?
    #   @return [Boolean] whether it came masked

    # @!method payload
    #   @return [String] the plain bytes: valid UTF-8 for a text that is whole (final, without
    #     reserved bits), else ASCII-8BIT, since a fragment may begin or end within a character
  end
end
