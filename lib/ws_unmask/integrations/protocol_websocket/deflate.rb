# frozen_string_literal: true

require_relative "../../zlib_options"

module WsUnmask
  module ProtocolWebSocket
    # For a +Protocol::WebSocket::Extension::Compression::Deflate+.
    module Deflate
      private

      # @param buffer [String] a message
      # @return [String] its payload when compressed
      def deflate(buffer)
        return super unless ZlibOptions.native?(@level, @memory_level, @strategy)

        @ws_unmask_deflater ||=
          Native::Deflater.new(@window_bits, !@context_takeover, ZlibOptions.level(@level))
        @ws_unmask_deflater.deflate(buffer)
      end
    end
  end
end
