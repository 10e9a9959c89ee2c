# frozen_string_literal: true

require "ws_unmask"
require_relative "protocol_websocket/compression"
require_relative "protocol_websocket/frame"
require_relative "protocol_websocket/frame_without_mask_xor"

module WsUnmask
  # Lets protocol-websocket, and so Falcon and async-websocket, unmask with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/protocol_websocket"
  module ProtocolWebSocket
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:protocol_websocket)) do |patches|
      frame = ::Protocol::WebSocket::Frame
      has_mask_xor = frame.private_method_defined?(:mask_xor)
      patches.replace frame, has_mask_xor ? Frame : FrameWithoutMaskXor
      Compression.add_to(patches)
    end

    class << self
      # @return [Integer, nil] the maximum bytes that a compressed message may inflate to; above
      #   that, the connection is closed with 1009. nil, the default, for no limit
      attr_reader :max_inflated_size

      # @raise [ArgumentError] if it is not a size
      def max_inflated_size=(bytes)
        unless bytes.nil? || (bytes.is_a?(Integer) && !bytes.negative?)
          raise ArgumentError, "max_inflated_size must be an Integer of bytes or nil for no limit"
        end

        @max_inflated_size = bytes
      end
    end

    private_constant :Compression, :Deflate, :Frame, :FrameWithoutMaskXor, :Inflate

    extend PatchSet::Switch
    install
  end
end
