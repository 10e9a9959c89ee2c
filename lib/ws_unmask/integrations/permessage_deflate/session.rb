# frozen_string_literal: true

module WsUnmask
  module PermessageDeflate
    # For a +PermessageDeflate::Session+, which reads and writes with two objects of Zlib.
    module Session
      include WebSocketDriver.const_get(:DeflateSession)

      # @param message [#data, #rsv1] to be sent
      # @return [#data, #rsv1] the same
      def process_outgoing_message(message)
        return super unless ws_unmask_deflates?

        message.data = ws_unmask_deflater.deflate(message.data)
        message.rsv1 = true
        message
      end

      private

      # Other options are Zlib's own, also those that it refuses.
      def ws_unmask_deflates?
        @mem_level == Zlib::DEF_MEM_LEVEL && @strategy == Zlib::DEFAULT_STRATEGY &&
          @level.is_a?(Integer) && @level.between?(Zlib::DEFAULT_COMPRESSION, 9)
      end

      def ws_unmask_inflater
        @ws_unmask_inflater ||= Native::Inflater.new(!@peer_context_takeover)
      end

      def ws_unmask_deflater
        @ws_unmask_deflater ||= Native::Deflater.new(@own_window_bits, !@own_context_takeover,
                                                     ws_unmask_level)
      end

      def ws_unmask_level = @level == Zlib::DEFAULT_COMPRESSION ? 6 : @level
    end
  end
end
