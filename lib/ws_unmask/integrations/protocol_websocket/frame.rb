# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For +Protocol::WebSocket::Frame+, which uses +IO::Buffer#xor!+.
    module Frame
      # Without +IO::Buffer#xor!+ the library unmasks byte by byte, and returns ASCII-8BIT.
      BY_BUFFER = defined?(IO::Buffer) && IO::Buffer.method_defined?(:xor!)
      private_constant :BY_BUFFER

      private

      # @param data [String] masked or plain bytes; they are not changed
      # @param mask [String] the masking key
      # @return [String] a new String, with the class and encoding of what the library returns
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
