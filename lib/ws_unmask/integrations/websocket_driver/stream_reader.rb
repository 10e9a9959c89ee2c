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

      # Goes back to the start of a frame's header.
      # @param header [Integer] how many bytes have been read
      # @return [Boolean] whether it did
      def ws_unmask_unread(header)
        return false if @offset < header

        @offset -= header
        true
      end

      # Like put.
      # @param chunk [String]
      # @return [Integer] how many bytes have not been read
      def ws_unmask_add(chunk)
        @buffer << chunk.force_encoding(Encoding::BINARY)
        @buffer.bytesize - @offset
      end

      # @param length [Integer] no more than are there
      # @return [String] so many bytes; not copied if there are no others
      def ws_unmask_take(length)
        if @offset.zero? && @buffer.bytesize == length
          payload = @buffer
          @buffer = String.new
        else
          payload = @buffer.byteslice(@offset, length)
          @offset += length
        end
        payload
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
