# frozen_string_literal: true

module WsUnmask
  module WebSocketClientSimple
    # For +WebSocket::Client::Simple::Client+, whose thread gets characters from its socket, gives
    # them to a frame, and asks that for messages.
    module Client
      # @param url [String]
      # @param options [Hash]
      # @return [Integer, nil] what the library returns
      def connect(url, options = {})
        connected = connect_without_ws_unmask(url, options)
        ws_unmask_read_ahead if connected
        connected
      end

      # @return [Boolean] whether frames come now
      def ws_unmask_open? = @handshaked

      private

      # The thread waits for the handshake's first character, or has got further already: both ways
      # to read go together.
      def ws_unmask_read_ahead
        socket = @socket
        frame = ws_unmask_frame
        socket.extend(ReadAhead).ws_unmask_read_ahead(self, frame) if socket && frame
      end

      # A local variable of the library's method, where its listener was made; nil if the connection
      # is closed already.
      def ws_unmask_frame
        listener = __events.reverse_each.find { |event| event[:type] == :__close }&.fetch(:listener)
        listener&.binding&.local_variable_get(:frame)
      end
    end
  end
end
