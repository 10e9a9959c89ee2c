# frozen_string_literal: true

module WsUnmask
  # A sans-IO decoder for one direction of a connection: bytes in, messages out. You read from the
  # socket, and you reply to pings and closes. {Connection} does that for you.
  #
  # It accepts input in chunks of any size. Fragmented messages are put together; control frames
  # are returned as they arrive, even between the fragments of a message.
  #
  # A message is a type and a payload:
  #
  # - +:text+: a String in UTF-8, valid unless +validate_utf8+ is false
  # - +:binary+, +:ping+, +:pong+: a String in ASCII-8BIT
  # - +:close+: a {Close}. Whatever follows is discarded (RFC 6455, section 5.5.1).
  #
  # With +allow_reserved+ there is a third value, the Array of the reserved bits that are set in the
  # message's first frame, for instance +[1]+. Text with a reserved bit is in ASCII-8BIT and not
  # checked, because an extension still has to decode it.
  #
  # With +deflate+, compressed messages come out inflated, without their reserved bit. They are
  # inflated and checked as they arrive, and never beyond +max_message_size+.
  #
  # A decoder serves one connection, so use it from one thread at a time.
  #
  # @example
  #   decoder = WsUnmask::Decoder.new(max_message_size: 1024 * 1024)
  #   begin
  #     loop do
  #       decoder.feed(socket.readpartial(16 * 1024)) do |type, payload|
  #         puts payload if type == :text
  #       end
  #     end
  #   rescue WsUnmask::ProtocolError => error
  #     socket.write(WsUnmask::Frame.close(error.code, error.message))
  #   end
  class Decoder
    # @param max_message_size [Integer, nil] the maximum bytes of a message, over all of its
    #   fragments, after inflating; nil for no limit
    # @param max_frame_size [Integer, nil] the maximum bytes of a data frame's payload; nil for no
    #   limit but the message's
    # @param require_mask [Boolean] whether frames have to be masked, as for a server (RFC 6455,
    #   section 5.1)
    # @param forbid_mask [Boolean] whether frames must not be masked, as for a client; then
    #   +require_mask+ does not matter
    # @param allow_reserved [Array<Integer>] the reserved bits (1, 2, 3 for RSV1, RSV2, RSV3) that
    #   extensions have negotiated. RSV1 is then accepted on the first frame of a message only (RFC
    #   7692, section 6)
    # @param validate_utf8 [Boolean] whether text has to be valid UTF-8 (RFC 6455, section 8.1)
    # @param deflate [Deflate::Agreement, nil] how the peer compresses messages; nil if it does not
    # @raise [ArgumentError] if a size is negative, or a reserved bit is not 1, 2 or 3
    # @raise [TypeError] if a size is not an Integer, +allow_reserved+ not an Array, or
    #   +deflate+ not an agreement
    def initialize(max_message_size: 64 * 1024 * 1024, max_frame_size: nil, require_mask: true,
                   forbid_mask: false, allow_reserved: [], validate_utf8: true, deflate: nil)
      set_up(max_message_size, max_frame_size, require_mask, forbid_mask, allow_reserved,
             validate_utf8, deflate)
    end

    ##
    # :method: feed
    # @!method feed(bytes)
    #   Takes the next bytes of the stream and returns, or yields, the messages that end in them.
    #
    #   A block may raise, +break+ or +throw+: the next call (+feed("")+ will do) delivers the
    #   messages after the current one.
    #
    #   Messages before a protocol violation are delivered first. Without a block, the violation is
    #   then raised by the next call.
    #   @overload feed(bytes)
    #     @return [Array<Array>] the messages, each an Array of type and payload
    #   @overload feed(bytes) {|type, payload, reserved| ... }
    #     @yieldparam type [Symbol] +:text+, +:binary+, +:ping+, +:pong+ or +:close+
    #     @yieldparam payload [String, Close]
    #     @yieldparam reserved [Array<Integer>] only with +allow_reserved+
    #     @return [self]
    #   @param bytes [String] what was received; it is not changed, and you may change it afterwards
    #   @raise [ProtocolError] for a protocol violation; every later call raises the same again
    #   @raise [NoMemoryError] if there is not enough memory for a message; every later call
    #     raises it again, since the bytes after that message are lost
    #   @raise [TypeError] if +bytes+ is not a String
    #   @raise [RuntimeError] if it is called from its own block, or by another thread meanwhile

    ##
    # :method: closed?
    # @!method closed?
    #   @return [Boolean] whether a close frame was received

    ##
    # :method: inspect
    # @!method inspect
    #   @return [String] its state, and how many bytes it holds
  end
end
