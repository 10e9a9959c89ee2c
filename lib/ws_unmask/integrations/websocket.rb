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
      decoding = %i[decode_header decode_first_byte decode_second_byte decode_payload_length
                    decode_payload]
      patches.replace frame::Data, Data
      patches.replace frame::Handler::Handler03, Handler
      patches.replace frame::Incoming, Incoming
      patches.leave_out frame::Data, :<<, :convert_args, :mask
      patches.leave_out frame::Incoming, :decoded?
      patches.leave_out frame::Handler::Handler03, :decode_frame, *decoding
      patches.leave_out frame::Handler::Handler07, :decode_frame, :opcode_to_type,
                        inherited: { frame::Handler::Handler03 => decoding }
    end

    private_constant :Data, :Handler, :Incoming

    extend PatchSet::Switch
    install
  end
end
