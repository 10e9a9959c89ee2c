# frozen_string_literal: true

require_relative "accept_key"
require_relative "head_reader"
require_relative "header_lines"
require_relative "request"

module WsUnmask
  class Connection
    # A server's side (RFC 6455, section 4.2).
    class ServerHandshake
      VERSION = "13"
      KEY = %r{\A[A-Za-z0-9+/]{22}==\z} # 16 bytes in Base64
      # A host, and perhaps a port (RFC 3986, section 3.2). Several headers are joined by a comma.
      HOST = /\A(?:\[[\h:.]+\]|[\w.~%!$&'()*+;=-]+)(?::\d*)?\z/
      UPGRADE = { "upgrade" => "websocket", "connection" => "Upgrade" }.freeze
      REASONS = { 400 => "Bad Request", 403 => "Forbidden", 405 => "Method Not Allowed",
                  426 => "Upgrade Required", 431 => "Request Header Fields Too Large" }.freeze
      private_constant :VERSION, :KEY, :HOST, :UPGRADE, :REASONS

      def initialize(subprotocols:, headers:, deflate:, &allowed)
        HeaderLines.check_subprotocols(subprotocols)
        @subprotocols = subprotocols
        @headers = HeaderLines.of(headers)
        @deflate = deflate
        @allowed = allowed
        @reader = HeadReader.new(Request)
      end

      # The bytes to send before reading anything.
      def request = ""

      # After {finish}: the response that accepts, and the subprotocol.
      attr_reader :response, :subprotocol

      # (see HeadReader#read)
      def read(bytes) = @reader.read(bytes)

      # Returns the agreement on compression, if there is one.
      def finish(request)
        check(request)
        agreement = negotiate(request["sec-websocket-extensions"])
        @subprotocol = (request.list("sec-websocket-protocol") & @subprotocols).first
        headers = { "Upgrade" => "websocket", "Connection" => "Upgrade",
                    "Sec-WebSocket-Accept" => AcceptKey.of(request["sec-websocket-key"]),
                    "Sec-WebSocket-Protocol" => subprotocol,
                    "Sec-WebSocket-Extensions" => agreement&.response }.compact
        @response = "HTTP/1.1 101 Switching Protocols\r\n#{HeaderLines.of(headers)}#{@headers}\r\n"
        agreement
      end

      # The response that refuses.
      def refusal(error)
        body = "#{error.message}\n"
        connection = [error.headers["connection"], "close"].compact.join(", ")
        lines = HeaderLines.of(error.headers.merge("connection" => connection,
                                                   "content-length" => body.bytesize.to_s))
        "HTTP/1.1 #{error.status} #{REASONS.fetch(error.status)}\r\n#{lines}\r\n#{body}"
      end

      private

      def check(request)
        unless request.request_method == "GET"
          refuse("only GET opens a WebSocket", 405, "allow" => "GET")
        end
        refuse("HTTP/1.1 is required") unless request.version.match?(/\A1\.[1-9]\z/)
        refuse("the request target must be a path") unless request.target.start_with?("/")
        refuse("one Host is required") unless request["host"]&.match?(HOST)
        # What follows it must be frames (RFC 9110, section 7.8).
        refuse("the request must not have content") if content?(request)
        unless request.list?("upgrade", "websocket") && request.list?("connection", "upgrade")
          refuse("this is a WebSocket server: Upgrade: websocket is required", 426, UPGRADE)
        end
        unless request["sec-websocket-version"] == VERSION
          refuse("Sec-WebSocket-Version: #{VERSION} is required", 426,
                 UPGRADE.merge("sec-websocket-version" => VERSION))
        end
        unless request["sec-websocket-key"]&.match?(KEY)
          refuse("Sec-WebSocket-Key of 16 bytes in Base64 is required")
        end
        refuse("this origin may not connect", 403) unless allowed?(request)
      end

      def content?(request)
        request["transfer-encoding"] || !request["content-length"].to_s.match?(/\A0*\z/)
      end

      def negotiate(extensions)
        @deflate&.accept(extensions)
      rescue NegotiationError => e
        refuse(e.message)
      end

      def allowed?(request) = @allowed.nil? || @allowed.call(request["origin"], request)

      def refuse(message, status = 400, headers = {})
        raise HandshakeError.new(message, status:, headers:)
      end
    end
    private_constant :ServerHandshake
  end
end
