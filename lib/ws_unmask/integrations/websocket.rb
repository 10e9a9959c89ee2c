# frozen_string_literal: true

require "ws_unmask"
require_relative "websocket/data"
require_relative "websocket/handler"
require_relative "websocket/incoming"

module WsUnmask
  # Lets the websocket gem decode incoming and mask outgoing frames with {WsUnmask}, and detect
  # incomplete frames without reading them again.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket"
  module WebSocketGem
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:websocket)) do |patches|
      frame = ::WebSocket::Frame
      patches.replace frame::Data, Data
      patches.replace frame::Handler::Handler03, Handler
      patches.replace frame::Incoming, Incoming
      patches.leave_out frame::Data, :<<, :convert_args, :mask
      patches.leave_out frame::Incoming, :decoded?
      patches.leave_out frame::Handler::Handler03, :decode_frame, :decode_header,
                        :decode_first_byte, :decode_second_byte, :decode_payload_length,
                        :decode_payload
      patches.leave_out frame::Handler::Handler07, :decode_frame, :opcode_to_type
    end

    private_constant :Data, :Handler, :Incoming

    extend PatchSet::Switch
    install
  end
end
