# frozen_string_literal: true

module WsUnmask
  # One frame (RFC 6455, section 5.2), for servers that work with frames rather than messages.
  #
  # @example
  #   io = StringIO.new(["818537fa213d7f9f4d5158"].pack("H*"))
  #   frame = WsUnmask::Frame.read(io)
  #   frame.type    # => :text
  #   frame.payload # => "Hello"
  #   WsUnmask::Frame.read(io) # => nil, the end
  class Frame
    ##
    # :singleton-method: read
    # @!method self.read(io, max_frame_size: 64 * 1024 * 1024, require_mask: true, allow_reserved: [])
    #   Reads exactly one frame, and not a byte more.
    #   @param io [IO, StringIO, #getbyte, #read] where to read from; +read(n)+ blocks until it
    #     has n bytes, or until the end
    #   @param max_frame_size [Integer, nil] the maximum bytes of the payload; nil for no limit
    #   @param require_mask [Boolean] whether the frame has to be masked: true for a server
    #   @param allow_reserved [Array<Integer>] the reserved bits that may be set
    #   @return [Frame, nil] nil at the end of +io+
    #   @raise [EOFError] if +io+ ends inside the frame
    #   @raise [ProtocolError] if the frame violates the protocol or exceeds the limit
    #   @raise [TypeError] for a String; use {decode} for that

    ##
    # :singleton-method: decode
    # @!method self.decode(string, offset: 0, max_frame_size: 64 * 1024 * 1024, require_mask: true, allow_reserved: [])
    #   Decodes the frame in a String and ignores what follows it.
    #   @param string [String]
    #   @param offset [Integer] where the frame begins, in bytes
    #   @param max_frame_size [Integer, nil] the maximum bytes of the payload; nil for no limit
    #   @param require_mask [Boolean] whether the frame has to be masked: true for a server
    #   @param allow_reserved [Array<Integer>] the reserved bits that may be set
    #   @return [Frame, nil] nil if +string+ ends where the frame would begin
    #   @raise [EOFError] if +string+ ends inside the frame
    #   @raise [ProtocolError] if the frame violates the protocol or exceeds the limit

    ##
    # :singleton-method: encode
    # @!method self.encode(type, payload, mask: nil, fin: true, reserved: [])
    #   Encodes a frame, ready to write.
    #   @example
    #     socket.write(WsUnmask::Frame.encode(:text, "Hello"))
    #   @param type [Symbol, Integer] +:continuation+, +:text+, +:binary+, +:close+, +:ping+ or
    #     +:pong+, or its opcode
    #   @param payload [String, Close] the bytes; text has to be in UTF-8. A {Close} for +:close+
    #   @param mask [String, Array<Integer>, nil] the masking key: four random bytes for a client,
    #     nil for a server
    #   @param fin [Boolean] whether this is the last fragment of its message
    #   @param reserved [Array<Integer>] the reserved bits to set, of 1, 2 and 3
    #   @return [String] the frame, in ASCII-8BIT
    #   @raise [ArgumentError] if no peer would accept the frame: unknown type, text or close reason
    #     that is not UTF-8, close code that is not to be sent, control frame that is a fragment or
    #     over 125 bytes (RFC 6455, section 5.5); or if the masking key is not 4 bytes long
    #   @raise [TypeError] if the payload is not a String

    # Encodes a close frame.
    # @example
    #   socket.write(WsUnmask::Frame.close(1000, "bye"))
    # @param code [Integer, nil] the close code (RFC 6455, section 7.4.1); nil for an empty frame
    # @param reason [String] why, in UTF-8, of at most 123 bytes
    # @param mask [String, Array<Integer>, nil] the masking key, see {encode}
    # @return [String] the frame, in ASCII-8BIT
    # @raise [ArgumentError] if the code is not one to be sent, or the reason is too long
    def self.close(code = nil, reason = "", mask: nil)
      encode(:close, Close.new(code, reason), mask:)
    end

    ##
    # :method: fin?
    # @!method fin?
    #   @return [Boolean] whether it is the last fragment of its message

    ##
    # :method: opcode
    # @!method opcode
    #   @return [Integer] 0 to 2, or 8 to 10

    ##
    # :method: type
    # @!method type
    #   @return [Symbol] +:continuation+, +:text+, +:binary+, +:close+, +:ping+ or +:pong+

    ##
    # :method: rsv1?
    # @!method rsv1?
    #   @return [Boolean] whether the first reserved bit is set

    ##
    # :method: rsv2?
    # @!method rsv2?
    #   @return [Boolean] whether the second reserved bit is set

    ##
    # :method: rsv3?
    # @!method rsv3?
    #   @return [Boolean] whether the third reserved bit is set

    ##
    # :method: masked?
    # @!method masked?
    #   @return [Boolean] whether it was masked

    ##
    # :method: size
    # @!method size
    #   @return [Integer] its size in the stream in bytes, including the header

    ##
    # :method: payload
    # @!method payload
    #   @return [String] the plain bytes: valid UTF-8 for whole text (final, without reserved bits),
    #     else ASCII-8BIT, since a fragment may begin or end inside a character

    # @return [String] its header, and the beginning of its payload
    def inspect
      flags = [("fin" if fin?), ("rsv1" if rsv1?), ("rsv2" if rsv2?), ("rsv3" if rsv3?),
               ("masked" if masked?)].compact
      shown = payload.byteslice(0, SHOWN).scrub("")
      "#<#{[self.class, type, *flags].join(" ")} #{payload.bytesize} bytes: #{shown.inspect}" \
        "#{"..." if payload.bytesize > SHOWN}>"
    end

    # How many bytes of the payload {#inspect} shows.
    SHOWN = 40
    private_constant :SHOWN
  end
end
