# frozen_string_literal: true

module WsUnmask
  module WebSocketGem
    # For +WebSocket::Frame::Handler::Handler03+, whose subclass Handler07 is RFC 6455's: helpers
    # for {Incoming}.
    module Handler
      # @return [Boolean] whether no message is unfinished
      def ws_unmask_between_messages? = @application_data_buffer.nil?

      private

      # Called by the library before it decodes each part of a frame.
      def buffer_exists?(buffer_number)
        return true if __send__(:"buffer_exists?_without_ws_unmask", buffer_number)

        @frame.ws_unmask_wait_for(buffer_number)
        false
      end
    end
  end
end
