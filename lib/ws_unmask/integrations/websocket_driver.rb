# frozen_string_literal: true

require "ws_unmask"
require_relative "websocket_driver/deflate_session"
require_relative "websocket_driver/deflate"
require_relative "websocket_driver/event_emitter"
require_relative "websocket_driver/extensions"
require_relative "websocket_driver/hybi"
require_relative "websocket_driver/mask"
require_relative "websocket_driver/stream_reader"

module WsUnmask
  # Lets the websocket-driver gem, and so Action Cable, Faye and most Rack apps, receive and send
  # with {WsUnmask}.
  #
  # The fast path handles complete, valid frames, and text and binary messages to be sent.
  # Everything else (the handshake, partial frames, violations) is left to the driver's own methods,
  # with the driver's own state. If a method that the fast path bypasses is hooked, the driver
  # runs without it.
  #
  # Nothing else changes, with one exception: websocket-driver 0.7.5 to 0.7.7 changes the encoding
  # of an ASCII-8BIT String that it sends to UTF-8; with ws_unmask, the caller's String is not
  # changed.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket_driver"
  module WebSocketDriver
    # The instance variables that the patches use.
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
      patches.leave_out driver # to notice what is inserted between Hybi and EventEmitter
      patches.leave_out driver.singleton_class, :encode
      patches.leave_out driver::EventEmitter, :emit
      patches.leave_out driver::StreamReader, :put, :read
      patches.leave_out ::WebSocket::Extensions, :valid_frame_rsv?, :process_incoming_message,
                        :process_outgoing_message
      patches.leave_out driver::Hybi::Message, :<<
      patches.leave_out driver::Hybi, :parse_opcode, :parse_length, :parse_extended_length,
                        :check_frame_length, :emit_frame, :emit_message, :send_frame
    end

    class << self
      # Whether +Driver#parse+ raises {MessageTooBigError} after it has closed a connection because
      # a message is over the option +max_length+ (64 MiB by default). By itself, the driver only
      # emits +:error+ and +:close+ then, which clients like ferrum do not tell their callers.
      # Default: false.
      # @return [Boolean]
      attr_accessor :raise_message_too_big
    end
    self.raise_message_too_big = false

    private_constant :DeflateSession, :EventEmitter, :Extensions, :Hybi, :Mask, :StreamReader

    extend PatchSet::Switch
    install
  end
end
