# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For a +Protocol::WebSocket::Frame+ without +mask_xor+ (before 0.12), which has a loop in each
    # of these methods.
    module FrameWithoutMaskXor
      # @param arguments [Array<String>] the plain payload
      # @return [Object] what the library's own method returns: the frame or, before 0.9, a length
      def pack(*arguments)
        data, = arguments
        mask = @mask
        unless mask.is_a?(String) && mask.bytesize == 4 && data.is_a?(String)
          return pack_without_ws_unmask(*arguments)
        end

        begin
          @mask = nil
          result = pack_without_ws_unmask(*arguments)
        ensure
          @mask = mask
        end
        @payload = WsUnmask.mask(data, mask)
        result
      end

      # @return [String] the plain payload
      def unpack
        unless @mask.is_a?(String) && @mask.bytesize == 4 && @payload.is_a?(String) &&
               !@payload.empty?
          return unpack_without_ws_unmask
        end

        WsUnmask.unmask(@payload, @mask)
      end
    end
  end
end
