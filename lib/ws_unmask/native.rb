# frozen_string_literal: true

module WsUnmask
  # The native functions for the integrations. They are called in the hottest loops, so arguments
  # are positional and results flat. Private: they change without notice.
  # @api private
  module Native
    # @!method self.whole_frames(buffer, offset, require_mask, allow_reserved, max_message_size, message_size)
    #   Returns all complete, valid frames at +offset+, at most 256. It stops before anything else
    #   (incomplete, a protocol violation, over the limit, text that is not UTF-8) without raising,
    #   and leaves that to the calling library.
    #   @param buffer [String]
    #   @param offset [Integer] where the first frame begins, in bytes
    #   @param require_mask [Boolean]
    #   @param allow_reserved [Integer] bits: RSV1 is 4, RSV2 is 2, RSV3 is 1
    #   @param max_message_size [Integer] in bytes
    #   @param message_size [Integer, nil] the bytes of the message that is not complete; nil
    #     between two messages
    #   @return [Array, nil] for each frame its first byte, its payload (UTF-8 for whole text, else
    #     ASCII-8BIT) and the offset behind it, one after the other; nil if there is no frame

    # @!method self.whole_frame(buffer, offset, masked, allow_reserved)
    #   Returns the complete, valid frame at +offset+, ignoring what came before it.
    #   @param buffer [String]
    #   @param offset [Integer] where the frame begins, in bytes
    #   @param masked [Boolean] whether it has to be masked, or must not be
    #   @param allow_reserved [Integer] bits: RSV1 is 4, RSV2 is 2, RSV3 is 1
    #   @return [Array, nil] its first byte, its payload and the offset behind it, as of
    #     {whole_frames}; nil if there is no such frame

    # @!method self.frame(opcode, payload, key, fin, reserved)
    #   Encodes a frame without checking its content.
    #   @param opcode [Integer, Symbol]
    #   @param payload [String]
    #   @param key [String, Array<Integer>, nil] the masking key
    #   @param fin [Boolean]
    #   @param reserved [Integer] bits: RSV1 is 4, RSV2 is 2, RSV3 is 1
    #   @return [String]
    #   @raise [ArgumentError] for a control frame that is a fragment or over 125 bytes

    # Inflates the payloads of compressed messages (RFC 7692, section 7.2.2), one after the other.
    class Inflater # rubocop:disable Lint/EmptyClass -- it is in Rust
      # @!method self.new(no_context_takeover)
      #   @param no_context_takeover [Boolean] whether each message was compressed independently

      # @!method inflate(payload, max_message_size)
      #   @param payload [String] of a whole message, unmasked
      #   @param max_message_size [Integer, nil] the most plain bytes; nil for no limit
      #   @return [String] the plain bytes, in ASCII-8BIT
      #   @raise [MessageTooBigError] as soon as there are more; the connection has to be failed
      #   @raise [InvalidPayloadError] if it is not DEFLATE; the connection has to be failed
    end

    # Deflates messages, one after the other.
    class Deflater # rubocop:disable Lint/EmptyClass -- it is in Rust
      # @!method self.new(window_bits, no_context_takeover, level)
      #   @param window_bits [Integer] from 8 to 15; 8 is treated as 9
      #   @param no_context_takeover [Boolean] whether to compress each message independently
      #   @param level [Integer] from 0 to 9

      # @!method deflate(plain)
      #   @param plain [String]
      #   @return [String] the payload of a compressed message (RFC 7692, section 7.2.1), in
      #     ASCII-8BIT. It has to be sent unless there is no context takeover
    end

    # @!method self.take_frame(buffer, classes, max_frame_size, with_length)
    #   Takes the frame at the start of a String out of it, masked as it came. If there is none, the
    #   String is unchanged.
    #   @param buffer [String]
    #   @param classes [Array<Class, nil>] of protocol-websocket's frames, by opcode
    #   @param max_frame_size [Integer, nil] in bytes
    #   @param with_length [Boolean] whether such a frame has an instance variable +@length+
    #   @return [Object] an object of one of the classes, with its instance variables; nil if more
    #     bytes are needed; the payload's length if it is over the limit; false for everything that
    #     is left to the library

    # @!method self.take_message(buffer, max_frame_size)
    #   The same for a message in a single frame, unmasked and checked.
    #   @param buffer [String]
    #   @param max_frame_size [Integer, nil] in bytes
    #   @return [String, nil, Integer, false] text in UTF-8, binary in ASCII-8BIT; else as above

    # @!method self.text?(bytes, last)
    #   @param bytes [String]
    #   @param last [Boolean] whether nothing follows; otherwise they may end within a character
    #   @return [Boolean] whether they are UTF-8
  end
  private_constant :Native
end
