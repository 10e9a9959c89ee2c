# frozen_string_literal: true

require "ws_unmask"
require_relative "websocket/data"

module WsUnmask
  # Lets the websocket gem unmask incoming and mask outgoing frames with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket"
  module WebSocketGem
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:websocket)) do |patches|
      patches.replace ::WebSocket::Frame::Data, Data
      patches.leave_out ::WebSocket::Frame::Data, :mask
    end

    private_constant :Data

    extend PatchSet::Switch
    install
  end
end
