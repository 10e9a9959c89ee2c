# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # For +WebSocket::Driver::StreamReader+: what {Hybi} asks of it.
    module StreamReader
      # @return [String] what has come; what lies before the offset has been read
      def ws_unmask_buffer = @buffer

      # @return [Integer]
      def ws_unmask_offset = @offset

      # @param offset [Integer]
      # @return [void]
      def ws_unmask_read_to(offset)
        @offset = offset
      end

      # @return [Boolean] whether it holds nothing, read or not
      def ws_unmask_empty? = @buffer.empty?

      # @return [Boolean] whether all has been read
      def ws_unmask_drained? = @offset == @buffer.bytesize

      # Takes back what has been read of a frame's header, once as much of its payload has come.
      # @param header [Integer] how many bytes have been read
      # @param payload [Integer] how many have to follow
      # @return [Boolean] whether it did
      def ws_unmask_unread(header, payload)
        return false if @offset < header || @buffer.bytesize < @offset + payload

        @offset -= header
        true
      end

      # Keeps what is left, rather than the buffer that it came in.
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
