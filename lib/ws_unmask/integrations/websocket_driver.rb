# frozen_string_literal: true

require "ws_unmask"
require_relative "websocket_driver/event_emitter"
require_relative "websocket_driver/extensions"
require_relative "websocket_driver/hybi"
require_relative "websocket_driver/mask"
require_relative "websocket_driver/stream_reader"

module WsUnmask
  # Lets the websocket-driver gem, and so Action Cable, Faye and most Rack apps, receive and send
  # with {WsUnmask}.
  #
  # What is in order goes the short way: frames that lie whole in what was read, texts and binary
  # messages to be sent. Everything else (the handshake, a frame's parts, what is wrong) is left to
  # the driver's own methods, on the driver's own state. Where somebody hooks a method that the
  # short way leaves out, the driver goes its own way.
  #
  # Nothing else changes, with one exception: the driver 0.7.5 to 0.7.7 sets the encoding of a
  # String in ASCII-8BIT that it is to send to UTF-8; with this, a caller's String stays as it is.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket_driver"
  module WebSocketDriver
    # The instance variables that are used here, and of whom.
    def self.check_state
      { ::WebSocket::Driver::StreamReader => %i[@buffer @offset],
        ::WebSocket::Extensions => %i[@sessions] }.each do |owner, names|
        missing = names - owner.new.instance_variables
        raise PatchSet::Refused, "#{owner} has no #{missing.join(" and no ")}" if missing.any?
      end
    end
    private_class_method :check_state

    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:websocket_driver)) do |patches|
      check_state
      driver = ::WebSocket::Driver
      mask = ::WebSocket::Mask.singleton_class
      patches.replace mask, Mask
      patches.replace driver::EventEmitter, EventEmitter
      patches.replace driver::StreamReader, StreamReader
      patches.replace ::WebSocket::Extensions, Extensions
      patches.replace driver::Hybi, Hybi
      patches.leave_out mask, :mask
      patches.leave_out driver # is watched for what comes between Hybi and EventEmitter
      patches.leave_out driver.singleton_class, :encode
      patches.leave_out driver::EventEmitter, :emit
      patches.leave_out driver::StreamReader, :put, :read
      patches.leave_out ::WebSocket::Extensions, :valid_frame_rsv?, :process_incoming_message,
                        :process_outgoing_message
      patches.leave_out driver::Hybi::Message, :<<
      patches.leave_out driver::Hybi, :parse_opcode, :parse_length, :parse_extended_length,
                        :check_frame_length, :emit_frame, :emit_message, :send_frame
    end

    private_constant :EventEmitter, :Extensions, :Hybi, :Mask, :StreamReader

    extend PatchSet::Switch
    install
  end
end
