# frozen_string_literal: true

module WsUnmask
  module EmWebSocket
    # For +EventMachine::WebSocket::MaskedString+, which unmasks byte by byte.
    module MaskedString
      # @param start_index [Integer] where the bytes begin; the key's first byte is for byte 0, 4, …
      # @param count [Integer] how many bytes
      # @return [String] the bytes, in ASCII-8BIT, unmasked if there is a key
      # @raise [TypeError] if there are fewer bytes
      def getbytes(start_index, count)
        unless @masking_key && start_index >= 0 && count >= 0 &&
               start_index + count <= bytesize &&
               ws_unmask_unhooked?(PATCHES)
          return getbytes_without_ws_unmask(start_index, count)
        end

        WsUnmask.unmask(byteslice(start_index, count), @masking_key, start_index)
      end
    end
  end
end
