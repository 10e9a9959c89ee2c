# frozen_string_literal: true

require_relative "../../zlib_options"

module WsUnmask
  module PermessageDeflate
    # For a +PermessageDeflate::Session+, which reads and writes with two objects of Zlib.
    module Session
      include WebSocketDriver.const_get(:DeflateSession)

      # @param message [#data, #rsv1] to be sent
      # @return [#data, #rsv1] the same
      def process_outgoing_message(message)
        return super unless ZlibOptions.native?(@level, @mem_level, @strategy)

        message.data = ws_unmask_deflater.deflate(message.data)
        message.rsv1 = true
        message
      end

      private

      def ws_unmask_inflater
        @ws_unmask_inflater ||= Native::Inflater.new(!@peer_context_takeover)
      end

      def ws_unmask_deflater
        @ws_unmask_deflater ||= Native::Deflater.new(@own_window_bits, !@own_context_takeover,
                                                     ZlibOptions.level(@level))
      end
    end
  end
end
