# frozen_string_literal: true

module WsUnmask
  module WebSocketGem
    # For +WebSocket::Frame::Data+, which unmasks an Array of Integers.
    module Data
      # @param start_index [Integer] where the bytes begin; the key's first byte is for this one
      # @param count [Integer] how many bytes at most
      # @return [String] the bytes, unmasked if there is a key
      def getbytes(start_index, count)
        data = self[start_index, count] if @masking_key && ws_unmask_unhooked?(PATCHES)
        return getbytes_without_ws_unmask(start_index, count) unless data

        WsUnmask.unmask!(data, @masking_key)
      end
    end
  end
end
