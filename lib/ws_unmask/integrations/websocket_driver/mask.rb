# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # For +WebSocket::Mask+.
    module Mask
      # @param payload [String] the masked bytes; they are not changed
      # @param mask [String, nil] the masking key
      # @return [String] the plain bytes in ASCII-8BIT; what the driver's own method returns if
      #   +mask+ is nil or not of 4 bytes
      # @raise [TypeError] if +payload+ or +mask+ is not a String
      def mask(payload, mask)
        if mask.nil? || (mask.is_a?(String) && mask.bytesize != 4)
          mask_without_ws_unmask(payload, mask)
        else
          WsUnmask.unmask(payload, mask)
        end
      end
    end
  end
end
