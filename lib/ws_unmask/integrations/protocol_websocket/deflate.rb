# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For a +Protocol::WebSocket::Extension::Compression::Deflate+.
    module Deflate
      private

      # @param buffer [String] a message
      # @return [String] its payload when compressed
      def deflate(buffer)
        return super unless ws_unmask_deflates?

        @ws_unmask_deflater ||=
          Native::Deflater.new(@window_bits, !@context_takeover, ws_unmask_level)
        @ws_unmask_deflater.deflate(buffer)
      end

      # Other options are Zlib's own, also those that it refuses.
      def ws_unmask_deflates?
        @memory_level == Zlib::DEF_MEM_LEVEL && @strategy == Zlib::DEFAULT_STRATEGY &&
          @level.is_a?(Integer) && @level.between?(Zlib::DEFAULT_COMPRESSION, 9)
      end

      def ws_unmask_level = @level == Zlib::DEFAULT_COMPRESSION ? 6 : @level
    end
  end
end
