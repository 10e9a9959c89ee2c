# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # For a +Protocol::WebSocket::Extension::Compression::Inflate+.
    module Inflate
      private

      # @param buffer [String] the payload of a compressed message
      # @return [String] the plain bytes
      # @raise [::Protocol::WebSocket::ProtocolError] with 1009 if there are more than
      #   {ProtocolWebSocket.limit} allows
      # @raise [Zlib::DataError] if it is not DEFLATE, as by the library's own method
      def inflate(buffer)
        @ws_unmask_inflater ||= Native::Inflater.new(!@context_takeover)
        @ws_unmask_inflater.inflate(buffer, ProtocolWebSocket.limits&.max_message_size)
      rescue MessageTooBigError => e
        raise ::Protocol::WebSocket::ProtocolError.new(e.message, e.code)
      rescue InvalidPayloadError => e
        raise Zlib::DataError, e.message
      end
    end
  end
end
