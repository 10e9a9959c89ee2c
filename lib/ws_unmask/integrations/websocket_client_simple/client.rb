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

      # A local variable of the library's method that created one of the listeners; nil if the
      # connection is already closed.
      def ws_unmask_frame
        listeners = __events.filter_map { |event| event[:listener] if event[:type] == :__close }
        listeners.filter_map { |listener| ws_unmask_frame_of(listener) }.last
      end

      def ws_unmask_frame_of(listener)
        frame = listener.binding.local_variable_get(:frame)
        frame if frame.is_a?(::WebSocket::Frame::Incoming)
      rescue NameError, ArgumentError # of an application's listener
        nil
      end
    end
  end
end
