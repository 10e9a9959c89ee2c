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

    # @!method self.peek(bytes, offset = 0, require_mask = true)
    #   Looks whether a frame lies whole in what has come. For code that has its own way for
    #   everything else, so nothing is raised for what a peer may send.
    #   @param bytes [String]
    #   @param offset [Integer] where the frame begins, in bytes
    #   @param require_mask [Boolean] whether it has to be masked: true for a server
    #   @return [Frame, nil] nil if there is not all of it, or if anything about it is out of the
    #     ordinary: against the protocol, a reserved bit, a text that is not UTF-8
    #   @raise [ArgumentError, TypeError, RangeError] for an offset that is none

    # @!method self.whole_text(bytes, require_mask)
    #   The shortest way there is for the most common read of all.
    #   @param bytes [String, nil] what a socket's read returned
    #   @param require_mask [Boolean] whether it has to be masked: true for a server
    #   @return [String, nil] the payload, in UTF-8, if +bytes+ are one text frame, whole and in
    #     order, and no byte more; nil if they are anything else, or frozen, or not in ASCII-8BIT

    # @!method self.encode(opcode, payload, key = nil, fin = true, reserved = [])
    #   Encodes a frame, to be written as it is.
    #   @example
    #     socket.write(WsUnmask::Frame.encode(1, "Hello"))
    #   @param opcode [Integer] 0 to 2, or 8 to 10
    #   @param payload [String] its bytes count, its encoding does not; it is not changed
    #   @param key [String, Array<Integer>, nil] the masking key: four random bytes for a client,
    #     nil for a server
    #   @param fin [Boolean] whether it is the last fragment of its message
    #   @param reserved [Array<Integer>] the reserved bits that are set, of 1, 2 and 3
    #   @return [String] the frame, in ASCII-8BIT
    #   @raise [ArgumentError] if there is no such opcode or reserved bit, if the key has not 4
    #     bytes, or if it is a control frame that is a fragment or over 125 bytes (RFC 6455, section
    #     5.5)
    #   @raise [TypeError] if the payload is not a String

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

    # @!method size
    #   @return [Integer] how many bytes it takes in the stream, header and all

    # @!method payload
    #   @return [String] the plain bytes: valid UTF-8 for a text that is whole (final, without
    #     reserved bits), else ASCII-8BIT, since a fragment may begin or end within a character
  end
end
