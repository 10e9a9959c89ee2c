# frozen_string_literal: true

module WsUnmask
  # Decodes the frames of one connection, in one direction: bytes in, messages out.
  #
  # It takes the bytes as they come from the socket, cut anywhere. Fragmented messages are put
  # together; control frames come out when they come in, also between the fragments of a message.
  # It reads from nothing and writes nothing: to answer pings and to close is up to the caller.
  #
  # A message is a type and a payload:
  #
  # - +:text+: a String in UTF-8, valid unless +validate_utf8+ is false
  # - +:binary+, +:ping+, +:pong+: a String in ASCII-8BIT
  # - +:close+: a {Close}. What comes after it is discarded (RFC 6455, section 5.5.1).
  #
  # With +allow_reserved+ there is a third value, the Array of the reserved bits that are set in
  # the message's first frame, for instance +[1]+. A text that has one is in ASCII-8BIT and not
  # checked, for an extension has still to decode it.
  #
  # A decoder is for one connection, thus for one thread at a time.
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
  #     # send a close frame with error.code
  #   end
  class Decoder
    # @!method initialize(max_message_size: 64 * 1024 * 1024, max_frame_size: nil, require_mask: true, allow_reserved: [], validate_utf8: true)
    #   @param max_message_size [Integer, nil] the most bytes of a message, over all of its
    #     fragments; nil for no limit
    #   @param max_frame_size [Integer, nil] the most bytes of a frame; nil for no limit but that of
    #     the message
    #   @param require_mask [Boolean] whether frames have to be masked: true for a server
    #   @param allow_reserved [Array<Integer>] the reserved bits (1, 2, 3 for RSV1, RSV2, RSV3) that
    #     extensions have negotiated
    #   @param validate_utf8 [Boolean] whether texts have to be valid UTF-8 (RFC 6455, section 8.1)
    #   @raise [ArgumentError] if an option is unknown, or a reserved bit is not 1, 2 or 3
    #   @raise [RangeError] if a size is negative

    # @!method feed(bytes)
    #   Takes the next bytes of the stream and gives back the messages that end in them.
    #
    #   An exception, +break+ or +throw+ out of the block loses nothing: the messages behind it come
    #   with the next call (+feed("")+ will do).
    #   @overload feed(bytes)
    #     @return [Array<Array>] the messages, each as an Array of type and payload. If there was a
    #       fault behind some messages, they are returned, and the next call raises.
    #   @overload feed(bytes) {|type, payload, reserved| ... }
    #     @yieldparam type [Symbol] +:text+, +:binary+, +:ping+, +:pong+ or +:close+
    #     @yieldparam payload [String, Close]
    #     @yieldparam reserved [Array<Integer>] only with +allow_reserved+
    #     @return [self]
    #   @param bytes [String] what came; it is not changed, and may be changed afterwards
    #   @raise [ProtocolError] if the peer is at fault; every later call raises the same again
    #   @raise [TypeError] if +bytes+ is not a String
    #   @raise [RuntimeError] if it is called from within its own block, or by another thread
    #     meanwhile

    # @!method closed?
    #   @return [Boolean] whether a close frame has come
  end
end
