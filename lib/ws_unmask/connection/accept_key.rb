# frozen_string_literal: true

require "digest/sha1"

module WsUnmask
  class Connection
    # Sec-WebSocket-Accept, which proves that the server has understood the request.
    module AcceptKey
      GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" # RFC 6455, section 1.3
      private_constant :GUID

      # Takes Sec-WebSocket-Key.
      def self.of(key)
        [Digest::SHA1.digest(key + GUID)].pack("m0")
      end
    end
    private_constant :AcceptKey
  end
end
