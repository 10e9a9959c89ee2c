# frozen_string_literal: true

require "ws_unmask"

module WsUnmask
  # Lets the websocket-driver gem, and so Action Cable, Faye and most Rack apps, unmask with
  # {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket_driver"
  module WebSocketDriver
    # Takes the place of the driver's own +WebSocket::Mask.mask+.
    module Mask
      # @param payload [String] the masked bytes; they are not changed
      # @param mask [String, nil] the masking key
      # @return [String] the plain bytes in ASCII-8BIT; +payload+ itself if +mask+ is nil or not of
      #   4 bytes, as in the driver's C extension
      # @raise [TypeError] if +payload+ or +mask+ is not a String
      def mask(payload, mask)
        return payload if mask.nil? || (mask.is_a?(String) && mask.bytesize != 4)

        WsUnmask.unmask(payload, mask)
      end
    end

    # @return [DropIn]
    DROP_IN = DropIn.new(:websocket_driver, library: "websocket/driver") do
      { ::WebSocket::Mask.singleton_class => Mask }
    end

    extend DropIn::Switch
    install
  end
end
