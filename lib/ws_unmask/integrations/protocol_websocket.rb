# frozen_string_literal: true

require "ws_unmask"
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
    end

    private_constant :Frame, :FrameWithoutMaskXor

    extend PatchSet::Switch
    install
  end
end
