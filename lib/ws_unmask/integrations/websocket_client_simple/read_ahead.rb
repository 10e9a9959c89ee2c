# frozen_string_literal: true

module WsUnmask
  module WebSocketClientSimple
    # For the socket of a client, a +TCPSocket+ or an +OpenSSL::SSL::SSLSocket+.
    #
    # The frame gets no more bytes at once than it needs next. So messages and errors come after the
    # same byte as if the bytes were read one by one.
    module ReadAhead
      # The maximum size of a TLS record.
      READ = 16 << 10
      private_constant :READ

      # @param socket [TCPSocket, OpenSSL::SSL::SSLSocket] which another thread may be reading from
      # @param client [::WebSocket::Client::Simple::Client]
      # @param frame [::WebSocket::Frame::Incoming::Client] gets the bytes
      # @return [void]
      def self.begin(socket, client, frame)
        socket.instance_variable_set(:@ws_unmask_client, client)
        socket.instance_variable_set(:@ws_unmask_frame, frame)
        socket.extend(self)
      end

      # @return [String, nil] one character of the handshake, or up to as many bytes of a frame as
      #   it needs; nil at the end
      def getc
        return super unless @ws_unmask_client.ws_unmask_open?

        @ws_unmask_read ||= readpartial(READ)
        size = @ws_unmask_frame.ws_unmask_missing
        piece = @ws_unmask_read.byteslice(0, size)
        rest = @ws_unmask_read.byteslice(size..)
        @ws_unmask_read = (rest unless rest.nil? || rest.empty?)
        piece
      rescue EOFError
        nil
      end
    end
  end
end
