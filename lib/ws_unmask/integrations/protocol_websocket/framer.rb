# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For a +Protocol::WebSocket::Framer+ whose code for reading frames is in {KnownReading}.
    #
    # A whole frame in the buffer of the stream is taken out in one native call. Nothing is removed
    # before the frame is complete, so a fiber that is stopped while it waits loses nothing.
    # Violations, the end of the stream and the parts of frames of more than 64 KiB are left to the
    # library's own method.
    module Framer
      NO_LIMIT = ::Protocol::WebSocket::MAXIMUM_ALLOWED_FRAME_SIZE
      # The library's classes by opcode.
      CLASSES = Array.new(16) { |opcode| ::Protocol::WebSocket::FRAMES[opcode] }.freeze
      # Whether a frame has a +@length+.
      LENGTH = KnownReading.length?
      private_constant :NO_LIMIT, :CLASSES, :LENGTH

      # @param maximum_frame_size [Integer]
      # @return [::Protocol::WebSocket::Frame]
      # @raise [::Protocol::WebSocket::ProtocolError, EOFError]
      def read_frame(maximum_frame_size = NO_LIMIT)
        frame = ws_unmask_take_frame(maximum_frame_size) if ws_unmask_takes? && !@ws_unmask_limited
        return frame if frame
        return read_frame_without_ws_unmask(maximum_frame_size) unless @ws_unmask_limited

        @ws_unmask_limited.frame(maximum_frame_size) { |most| read_frame_without_ws_unmask(most) }
      end

      # Whether frames can be taken out of the stream's buffer, and no bypassed method is hooked.
      # Called for every frame, so it is cheap.
      # @return [Boolean]
      def ws_unmask_takes?
        changes = HookWatch.changes
        return @ws_unmask_takes if @ws_unmask_changes == changes

        @ws_unmask_changes = changes
        limits = ProtocolWebSocket.limits
        @ws_unmask_limited ||= LimitedMessage.new(limits) if limits
        @ws_unmask_takes = @frames.equal?(::Protocol::WebSocket::FRAMES) &&
                           PeekedStream.one?(@stream) && PATCHES.unhooked?([self]) &&
                           CLASSES.compact.all? { |kind| ws_unmask_plain?(kind) }
      end

      # For {Connection}.
      # @return [String, nil] the payload of a message in one frame, which was taken
      def ws_unmask_take_message
        payload = nil
        room = @ws_unmask_limited&.room
        @stream.peek { |buffer| !(payload = Native.take_message(buffer, room)).nil? }
        payload if payload.is_a?(String)
      end

      private

      # @return [::Protocol::WebSocket::Frame, nil] a frame that was taken
      def ws_unmask_take_frame(maximum_frame_size)
        most = maximum_frame_size
        return unless most.is_a?(Integer) && most.between?(0, NO_LIMIT) # others fail or are huge

        frame = nil
        most = nil if most == NO_LIMIT
        @stream.peek { |buffer| !(frame = Native.take_frame(buffer, CLASSES, most, LENGTH)).nil? }
        frame unless frame.is_a?(Integer)
      end

      # Whether its objects are made by the library's own methods.
      def ws_unmask_plain?(kind)
        kind.instance_method(:initialize).owner.equal?(::Protocol::WebSocket::Frame) &&
          %i[new allocate].all? { |name| kind.method(name).owner.equal?(Class) }
      end
    end

    private_constant :Framer
  end
end
