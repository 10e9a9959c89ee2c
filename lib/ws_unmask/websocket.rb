# frozen_string_literal: true

require "ws_unmask"

module WsUnmask
  # Lets the websocket gem unmask incoming and mask outgoing frames with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket"
  module WebSocketGem
    # Takes the place of +WebSocket::Frame::Data#getbytes+, which goes through an Array of Integers.
    module Data
      # @param start_index [Integer] where the bytes begin; the key's first byte is for this one
      # @param count [Integer] how many bytes; fewer if there are not so many
      # @return [String] the bytes, unmasked if there is a key
      def getbytes(start_index, count)
        data = self[start_index, count]
        data && @masking_key ? WsUnmask.unmask!(data, @masking_key) : super
      end
    end

    # @return [DropIn]
    DROP_IN = DropIn.new(:websocket, library: "websocket") do
      { ::WebSocket::Frame::Data => Data }
    end

    extend DropIn::Switch
    install
  end
end
