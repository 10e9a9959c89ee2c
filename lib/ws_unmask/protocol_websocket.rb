# frozen_string_literal: true

require "ws_unmask"

module WsUnmask
  # Lets protocol-websocket, and so Falcon and async-websocket, unmask with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/protocol_websocket"
  module ProtocolWebSocket
    # Takes the place of +Protocol::WebSocket::Frame#mask_xor+, which asks +IO::Buffer#xor!+.
    module Frame
      private

      # @param data [String] masked or plain bytes; they are not changed
      # @param mask [String] the masking key
      # @return [String] a new one, of the class and in the encoding of +data+
      def mask_xor(data, mask)
        return super unless mask.bytesize == 4 && data.is_a?(String)
        return WsUnmask.unmask!(data.dup, mask) unless data.instance_of?(String)

        WsUnmask.unmask(data, mask).force_encoding(data.encoding)
      end
    end

    # Takes the place of methods of a +Protocol::WebSocket::Frame+ that has no +mask_xor+ yet
    # (before 0.12), but a loop in each of them.
    module FrameWithoutMaskXor
      # @param data [String] the plain payload
      # @return [Protocol::WebSocket::Frame] self
      def pack(data)
        return super unless @mask.is_a?(String) && @mask.bytesize == 4

        @payload = WsUnmask.mask(data, @mask)
        @length = data.bytesize
        self
      end

      # @return [String] the plain payload
      def unpack
        return super unless @mask.is_a?(String) && @mask.bytesize == 4

        WsUnmask.unmask(@payload, @mask)
      end
    end

    # @return [DropIn]
    DROP_IN = DropIn.new(:protocol_websocket, library: "protocol/websocket") do
      frame = ::Protocol::WebSocket::Frame
      { frame => frame.private_method_defined?(:mask_xor) ? Frame : FrameWithoutMaskXor }
    end

    extend DropIn::Switch
    install
  end
end
