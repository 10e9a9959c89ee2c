# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For +Protocol::WebSocket::Frame+, which asks +IO::Buffer#xor!+.
    module Frame
      private

      # @param data [String] masked or plain bytes; they are not changed
      # @param mask [String] the masking key
      # @return [String] a new one, of the class and in the encoding of +data+
      def mask_xor(data, mask)
        unless mask.is_a?(String) && mask.bytesize == 4 && data.is_a?(String)
          return mask_xor_without_ws_unmask(data, mask)
        end
        return WsUnmask.unmask!(data.dup, mask) unless data.instance_of?(String)

        WsUnmask.unmask(data, mask).force_encoding(data.encoding)
      end
    end
  end
end
