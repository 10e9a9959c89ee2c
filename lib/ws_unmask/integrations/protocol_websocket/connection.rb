# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For a +Protocol::WebSocket::Connection+ whose code from a frame to a message is the one in
    # {KnownReading}.
    #
    # Most messages are a single frame that lies whole in the stream's buffer: they are unmasked and
    # checked while they are taken out of it. All others come frame by frame.
    module Connection
      # @return [::Protocol::WebSocket::Message, nil]
      # @raise [::Protocol::WebSocket::ProtocolError, EOFError]
      def read(**options)
        payload = ws_unmask_next_payload if options.empty? && ws_unmask_fast_path?
        return read_without_ws_unmask(**options) unless payload

        kind = payload.encoding == Encoding::UTF_8 ? TEXT : BINARY
        kind.new(payload)
      end

      TEXT = ::Protocol::WebSocket::TextMessage
      BINARY = ::Protocol::WebSocket::BinaryMessage
      private_constant :TEXT, :BINARY

      private

      # Whether no method that the fast path bypasses is hooked. Cheap, since it runs per message.
      def ws_unmask_fast_path?
        changes = HookWatch.changes
        return @ws_unmask_fast_path if @ws_unmask_changes == changes

        @ws_unmask_changes = changes
        @ws_unmask_fast_path = @framer.instance_of?(::Protocol::WebSocket::Framer) &&
                               PATCHES.unhooked?([self])
      end

      # @return [String, nil] of a message in one frame
      def ws_unmask_next_payload
        return unless @frames.empty? && @reader.equal?(self) && @state != :closed &&
                      @framer.ws_unmask_takes?

        @framer.flush
        begin
          @framer.ws_unmask_take_message
        rescue StandardError => e # as read_frame does
          close(::Protocol::WebSocket::Error::PROTOCOL_ERROR, e.message)
          raise
        end
      end
    end

    private_constant :Connection
  end
end
