# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # Inflates and deflates a driver's messages for sessions of permessage-deflate, which define
    # +ws_unmask_inflater+ and +ws_unmask_deflater+.
    module DeflateSession
      # @return [::WebSocket::Driver] its limit applies; without one, the default of drivers
      attr_writer :ws_unmask_driver

      # @param message [#data, #rsv1] as it was received; its data become the plain bytes
      # @return [#data, #rsv1] the same
      # @raise [MessageTooBigError] as soon as there are more plain bytes than the limit. The driver
      #   has then closed with 1009
      # @raise [InvalidPayloadError] if it is not DEFLATE; the driver closes with 1010
      def process_incoming_message(message)
        message.data = ws_unmask_inflater.inflate(message.data, ws_unmask_limit) if message.rsv1
        message
      rescue MessageTooBigError
        @ws_unmask_driver&.ws_unmask_fail_too_large
        raise
      end

      # @return [void]
      def close
        @ws_unmask_inflater = @ws_unmask_deflater = nil
        super if defined?(super)
      end

      private

      def ws_unmask_limit
        @ws_unmask_driver ? @ws_unmask_driver.ws_unmask_max_length : ::WebSocket::Driver::MAX_LENGTH
      end
    end
  end
end
