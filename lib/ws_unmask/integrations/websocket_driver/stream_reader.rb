# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # For +WebSocket::Driver::StreamReader+: helpers for {Hybi}.
    module StreamReader
      # @return [String] what was received; the part before the offset has been read
      def ws_unmask_buffer = @buffer

      # @return [Integer]
      def ws_unmask_offset = @offset

      # @param offset [Integer]
      # @return [void]
      def ws_unmask_read_to(offset)
        @offset = offset
      end

      # @return [Boolean] whether it is empty, including what has been read
      def ws_unmask_empty? = @buffer.empty?

      # @return [Boolean] whether everything has been read
      def ws_unmask_drained? = @offset == @buffer.bytesize

      # Goes back to the start of a frame's header, once its payload has arrived.
      # @param header [Integer] how many bytes have been read
      # @param payload [Integer] how many have to follow
      # @return [Boolean] whether it did
      def ws_unmask_unread(header, payload)
        return false if @offset < header || @buffer.bytesize < @offset + payload

        @offset -= header
        true
      end

      # Keeps only the unread bytes, and not the buffer around them.
      # @return [void]
      def ws_unmask_compact
        return if @offset.zero?

        rest = @buffer.byteslice(@offset..)
        @buffer = String.new(capacity: rest.bytesize) << rest
        @offset = 0
      end
    end
  end
end
