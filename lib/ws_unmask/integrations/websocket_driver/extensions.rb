# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # For +WebSocket::Extensions+: helpers for {Hybi}.
    module Extensions
      # @return [Boolean] whether no extension is active
      def ws_unmask_idle? = @sessions.empty?

      # @return [Integer] the reserved bits that the extensions use, RSV1 as 4
      def ws_unmask_reserved
        @sessions.inject(0) do |bits, (extension, _)|
          bits | (extension.rsv1 ? 4 : 0) | (extension.rsv2 ? 2 : 0) | (extension.rsv3 ? 1 : 0)
        end
      end

      # @param driver [::WebSocket::Driver] its limit applies to the inflated bytes
      # @return [void]
      def ws_unmask_limit_by(driver)
        @sessions.each do |_, session|
          session.ws_unmask_driver = driver if session.is_a?(DeflateSession)
        end
      end
    end
  end
end
