# frozen_string_literal: true

module WsUnmask
  module Midori
    # For a +Midori::WebSocket+ that has two protected methods in C, which mask.
    module Masks
      protected

      # @param payload [Array<Integer>] the masked bytes
      # @param mask [Array<Integer>] the masking key
      # @return [Array<Integer>] the plain bytes
      def mask(payload, mask) = WsUnmask.unmask_bytes(payload, mask)

      # @param payload [Array<Integer>] the masked bytes
      # @param mask [Array<Integer>] the masking key
      # @return [String] the plain bytes, in UTF-8
      def mask_str(payload, mask)
        WsUnmask.unmask!(payload.pack("C*"), mask).force_encoding(Encoding::UTF_8)
      end
    end
  end
end
