# frozen_string_literal: true

require "ws_unmask"

module WsUnmask
  # Lets the em-websocket gem unmask with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/em_websocket"
  module EmWebSocket
    # Takes the place of +EventMachine::WebSocket::MaskedString#getbytes+, which goes byte by byte.
    module MaskedString
      # @param start_index [Integer] where the bytes begin; the key's first byte is for byte 0, 4, …
      # @param count [Integer] how many bytes
      # @return [String] the bytes, in ASCII-8BIT, unmasked if there is a key
      # @raise [TypeError] if there are not so many bytes
      def getbytes(start_index, count)
        return super unless @masking_key && start_index >= 0 && start_index + count <= bytesize

        WsUnmask.unmask(byteslice(start_index, count), @masking_key, start_index)
      end
    end

    # @return [DropIn]
    DROP_IN = DropIn.new(:em_websocket, library: "em-websocket") do
      { ::EventMachine::WebSocket::MaskedString => MaskedString }
    end

    extend DropIn::Switch
    install
  end
end
