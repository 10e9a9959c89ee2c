# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For +Protocol::WebSocket::Frame+, which asks +IO::Buffer#xor!+.
    module Frame
      # Where there is no +IO::Buffer#xor!+, the library goes byte by byte, and returns ASCII-8BIT.
      BY_BUFFER = defined?(IO::Buffer) && IO::Buffer.method_defined?(:xor!)
      private_constant :BY_BUFFER

      private

      # @param data [String] masked or plain bytes; they are not changed
      # @param mask [String] the masking key
      # @return [String] a new one, of the class and in the encoding that the library's own has
      def mask_xor(data, mask)
        unless mask.is_a?(String) && mask.bytesize == 4 && data.is_a?(String)
          return mask_xor_without_ws_unmask(data, mask)
        end
        return WsUnmask.unmask(data, mask) unless BY_BUFFER
        return WsUnmask.unmask!(data.dup, mask) unless data.instance_of?(String)

        WsUnmask.unmask(data, mask).force_encoding(data.encoding)
      end
    end
  end
end
