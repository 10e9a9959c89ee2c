# frozen_string_literal: true

module WsUnmask
  module WebSocketClientSimple
    # For +WebSocket::Client::Simple::Client+, whose thread reads characters from its socket,
    # appends them to a frame, and takes messages from that.
    module Client
      # @param url [String]
      # @param options [Hash]
      # @return [Integer, nil] what the library returns
      def connect(url, options = {})
        connected = connect_without_ws_unmask(url, options)
        ws_unmask_read_ahead if connected
        connected
      end

      # @return [Boolean] whether the handshake is complete
      def ws_unmask_open? = @handshaked

      private

      # The thread may wait for the handshake's first character, or have read more already. Both
      # ways to read work together.
      def ws_unmask_read_ahead
        socket = @socket
        frame = ws_unmask_frame
        ReadAhead.begin(socket, self, frame) if socket && frame
      end

      # A local variable of the library's method that created the listener; nil if the connection is
      # already closed.
      def ws_unmask_frame
        listener = __events.reverse_each.find { |event| event[:type] == :__close }&.fetch(:listener)
        listener&.binding&.local_variable_get(:frame)
      end
    end
  end
end
