# frozen_string_literal: true

require "uri"
require_relative "accept_key"
require_relative "head_reader"
require_relative "header_lines"
require_relative "response"

module WsUnmask
  class Connection
    # A client's side (RFC 6455, section 4.1).
    class ClientHandshake
      PORTS = { "ws" => 80, "wss" => 443 }.freeze
      MOST_INTERIM = 10
      private_constant :PORTS, :MOST_INTERIM

      # The request; after {finish}, the subprotocol.
      attr_reader :request, :subprotocol

      def initialize(url, subprotocols:, headers:, deflate:)
        HeaderLines.check_subprotocols(subprotocols)
        @subprotocols = subprotocols
        @deflate = deflate
        @key = [Random.urandom(16)].pack("m0")
        @interim = 0
        read_next
        host, target = *host_and_target(parsed(url))
        lines = { "Host" => host, "Upgrade" => "websocket", "Connection" => "Upgrade",
                  "Sec-WebSocket-Key" => @key, "Sec-WebSocket-Version" => "13" }
        lines["Sec-WebSocket-Protocol"] = subprotocols.join(", ") if subprotocols.any?
        lines["Sec-WebSocket-Extensions"] = deflate.offer if deflate
        lines.reject! { |name, _| headers.any? { |other, _| name.casecmp?(other) } }
        lines = HeaderLines.of(lines.merge(headers))
        @request = "GET #{target} HTTP/1.1\r\n#{lines}\r\n"
      end

      # Nothing is sent after the response.
      def response = ""

      # Nothing is sent if the response is refused.
      def refusal(_error) = ""

      # (see HeadReader#read)
      def read(bytes)
        response, behind = @reader.read(bytes)
        return [response, behind] unless response&.interim?

        refuse(response, "too many interim responses") if (@interim += 1) > MOST_INTERIM
        read_next
        read(behind)
      end

      # Returns the agreement on compression, if there is one.
      def finish(response)
        check(response)
        @subprotocol = response["sec-websocket-protocol"]
        negotiate(response)
      end

      private

      def read_next
        @reader = HeadReader.new(Response, unfolds: true)
      end

      def parsed(url)
        URI(url)
      rescue URI::InvalidURIError => e
        raise ArgumentError, e.message
      end

      def host_and_target(uri)
        port = PORTS[uri.scheme]
        unless port && uri.host && !uri.fragment && !uri.userinfo
          raise ArgumentError, "#{uri} is not a WebSocket URL"
        end

        host = uri.port.nil? || uri.port == port ? uri.host : "#{uri.host}:#{uri.port}"
        path = uri.path.empty? ? "/" : uri.path
        [host, uri.query ? "#{path}?#{uri.query}" : path]
      end

      def check(response)
        refuse(response, "the server responded with #{response.status}") if response.status != 101
        unless response["upgrade"]&.casecmp("websocket")&.zero? &&
               response.list?("connection", "upgrade")
          refuse(response, "the server has not upgraded to a WebSocket")
        end
        unless response["sec-websocket-accept"] == AcceptKey.of(@key)
          refuse(response, "Sec-WebSocket-Accept does not match the key")
        end
        return if [nil, *@subprotocols].include?(response["sec-websocket-protocol"])

        refuse(response, "the server chose a subprotocol that was not offered")
      end

      def negotiate(response)
        return @deflate.confirm(response["sec-websocket-extensions"]) if @deflate
        return if response.list("sec-websocket-extensions").empty?

        refuse(response, "the server chose an extension that was not offered")
      rescue NegotiationError => e
        refuse(response, e.message)
      end

      def refuse(response, message)
        raise HandshakeError.new(message, status: response.status, headers: response.headers)
      end
    end
    private_constant :ClientHandshake
  end
end
