# frozen_string_literal: true

require "ws_unmask"
require_relative "protocol_websocket/compression"
require_relative "protocol_websocket/frame"
require_relative "protocol_websocket/frame_without_mask_xor"
require_relative "protocol_websocket/known_reading"
require_relative "protocol_websocket/limited_message"
require_relative "protocol_websocket/peeked_stream"

module WsUnmask
  # Lets protocol-websocket, and so Falcon and async-websocket, read and unmask with {WsUnmask}.
  #
  # Reading is taken over on the streams of io-stream, if the library's code for it is
  # known (0.10 and later); masking in any version.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/protocol_websocket"
  #
  # @example Limits, before the server starts
  #   WsUnmask::ProtocolWebSocket.limit(max_frame_size: 64 << 10, max_message_size: 1 << 20)
  module ProtocolWebSocket
    # The limits set by {limit}.
    Limits = Struct.new(:max_frame_size, :max_message_size, :validate_utf8)

    NO_LIMIT = 2**63
    private_constant :NO_LIMIT

    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:protocol_websocket)) do |patches|
      frame = ::Protocol::WebSocket::Frame
      has_mask_xor = frame.private_method_defined?(:mask_xor)
      patches.replace frame, has_mask_xor ? Frame : FrameWithoutMaskXor
      Compression.add_to(patches)
      take_over_frames(patches) if KnownReading.frames?
      take_over_messages(patches) if KnownReading.messages?
    end

    class << self
      # @return [Limits, nil] the limits of connections opened from now on
      attr_reader :limits

      # Limits what peers may send. A connection whose peer sends more is closed with code 1009, as
      # soon as a header says so. A compressed message counts as it arrives, and then as it is
      # inflated, which stops at the limit.
      #
      # It holds for connections that have not read a frame yet.
      #
      # @param max_frame_size [Integer, nil] bytes in a frame; nil for no limit
      # @param max_message_size [Integer, nil] bytes in a message, over all of its frames; nil for
      #   no limit
      # @param validate_utf8 [Boolean] whether each frame of a text is checked when it arrives, and
      #   not only the whole message
      # @return [void]
      # @raise [RuntimeError] if the library's code is not known, so nothing can be limited
      # @raise [ArgumentError] if a size is none
      def limit(max_frame_size: nil, max_message_size: nil, validate_utf8: false)
        raise "ws_unmask cannot limit this version of protocol-websocket" unless reads_frames?

        sizes = { max_frame_size:, max_message_size: }.map { |name, size| checked(name, size) }
        @limits = if sizes.any? || validate_utf8
                    Limits.new(*sizes.map { |size| size || NO_LIMIT }, validate_utf8)
                  end
        HookWatch.changed
      end

      # @return [Boolean] whether it reads frames, or leaves that to the library
      def reads_frames?
        PATCHES.installed? &&
          ::Protocol::WebSocket::Framer.private_method_defined?(:read_frame_without_ws_unmask)
      end

      private

      def checked(name, bytes)
        return if bytes.nil?
        return [bytes, NO_LIMIT].min if bytes.is_a?(Integer) && !bytes.negative?

        raise ArgumentError, "#{name} must be an Integer of bytes or nil for no limit"
      end

      # The library is loaded by now.
      def take_over_frames(patches)
        require_relative "protocol_websocket/framer"
        patches.replace ::Protocol::WebSocket::Framer, Framer
        KnownReading.under_frames.each { |owner, names| patches.leave_out owner, *names }
        ::Protocol::WebSocket::FRAMES.each_value { |kind| patches.leave_out kind }
      end

      def take_over_messages(patches)
        require_relative "protocol_websocket/connection"
        patches.replace ::Protocol::WebSocket::Connection, Connection
        KnownReading.under_messages.each { |owner, names| patches.leave_out owner, *names }
        KnownReading.inherited_by_messages.each do |kind, names, inherited|
          patches.leave_out kind, *names, inherited:
        end
      end
    end

    private_constant :Compression, :Deflate, :Frame, :FrameWithoutMaskXor, :Inflate, :KnownReading,
                     :LimitedMessage, :PeekedStream

    extend PatchSet::Switch
    install
  end
end
