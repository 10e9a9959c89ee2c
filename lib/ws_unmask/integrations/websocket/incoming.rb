# frozen_string_literal: true

module WsUnmask
  module WebSocketGem
    # For +WebSocket::Frame::Incoming+, which reads a frame's header again at every call.
    module Incoming
      # The first bytes of the messages and control frames that are decoded natively, unless they
      # are fragments.
      TYPES = { 0x81 => :text, 0x82 => :binary, 0x89 => :ping, 0x8a => :pong }.freeze
      private_constant :TYPES

      # @param data [String] what was received
      # @return [WebSocket::Frame::Data]
      def <<(data)
        unless data.instance_of?(String) && data.encoding == Encoding::BINARY &&
               ws_unmask_unhooked?(PATCHES)
          return __send__(:"<<_without_ws_unmask", data)
        end

        @data.concat(data)
      end

      # @return [WebSocket::Frame::Incoming, nil] the next message or control frame; nil if it is
      #   not complete
      def next(*)
        return if ws_unmask_waits?

        @ws_unmask_needed = nil
        (ws_unmask_whole_message if ws_unmask_unhooked?(PATCHES)) || next_without_ws_unmask
      end

      # @return [Integer] the minimum number of further bytes before {next} can return or raise
      #   anything
      def ws_unmask_missing
        return 1 unless PATCHES.installed? && ws_unmask_unhooked?(PATCHES)

        [(@ws_unmask_needed || SHORTEST) - @data.bytesize, 1].max
      end

      # @param size [Integer] of the data that the library needs to continue
      # @return [void]
      def ws_unmask_wait_for(size)
        return unless ws_unmask_unhooked?(PATCHES)

        @ws_unmask_needed = size
        @ws_unmask_needed_since = HookWatch.changes
        @ws_unmask_size = @data.bytesize
      end

      # Of a frame.
      SHORTEST = 2
      private_constant :SHORTEST

      private

      # If there are fewer bytes than at the last call, they are different ones.
      def ws_unmask_waits?
        return false unless @ws_unmask_needed && @ws_unmask_needed_since == HookWatch.changes &&
                            ws_unmask_unhooked?(PATCHES)

        size = @data.bytesize
        return false unless size < @ws_unmask_needed && size >= @ws_unmask_size

        @ws_unmask_size = size
        true
      end

      def ws_unmask_whole_message
        type = TYPES[@data.getbyte(0)]
        return unless type && !@decoded && ws_unmask_expected?(type)

        _, payload, size = Native.whole_frame(@data, 0, incoming_masking?, 0)
        return unless payload && size <= ::WebSocket.max_frame_size

        size == @data.bytesize ? @data.clear : @data.slice!(0, size)
        self.class.new(version: @version, type:, data: payload, decoded: true)
      end

      # Older drafts have other frames.
      def ws_unmask_expected?(type)
        @handler.instance_of?(::WebSocket::Frame::Handler::Handler07) &&
          (type == :ping || type == :pong || @handler.ws_unmask_between_messages?)
      end
    end
  end
end
