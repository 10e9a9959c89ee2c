# frozen_string_literal: true

require_relative "head"

module WsUnmask
  class Connection
    # The request of a client.
    class Request < Head
      LINE = %r{\A(#{TOKEN}) ([\x21\x22\x24-\x7e]+) HTTP/(\d\.\d)\z}n
      ABSOLUTE = %r{\Ahttps?://([^/?]+)/?}i
      private_constant :LINE, :ABSOLUTE

      # @return [String] +GET+, unless the request is refused
      attr_reader :request_method
      # @return [String] the path, and the query if there is one
      attr_reader :target
      # @return [String] the HTTP version, for instance +1.1+
      attr_reader :version

      # @param line [String]
      # @param headers [Hash{String => String}]
      # @return [Request]
      # @raise [HandshakeError]
      def self.parse(line, headers)
        _, request_method, target, version = *LINE.match(line)
        raise HandshakeError, "malformed request line" unless version

        # The host of an absolute URI replaces the header (RFC 9112, section 3.2.2). What is not one
        # header stays, to be refused.
        authority = target[ABSOLUTE, 1]
        headers["host"] = authority if authority && headers["host"]&.match?(/\A[^,]*\z/)
        new(request_method, target.sub(ABSOLUTE, "/"), version, headers)
      end

      # @param env [Hash] of Rack
      # @return [Request]
      def self.from_rack(env)
        headers = env.filter_map do |name, value|
          [name.delete_prefix("HTTP_").tr("_", "-"), value] if name.start_with?("HTTP_")
        end.to_h
        headers["content-length"] = env["CONTENT_LENGTH"] if env["CONTENT_LENGTH"]
        # Puma 5 has the real one in HTTP_VERSION, newer servers only know SERVER_PROTOCOL.
        version = env.values_at("HTTP_VERSION", "SERVER_PROTOCOL").compact
                     .find { |protocol| protocol.start_with?("HTTP/") }
        # In ASCII-8BIT: an app may be mounted at a path in UTF-8, and what a client sends is bytes.
        script, path, query = env.values_at("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING")
                                 .map { |part| part.to_s.b }
        target = "#{script}#{path}#{"?" unless query.empty?}#{query}"
        new(env["REQUEST_METHOD"], target, version.to_s.delete_prefix("HTTP/"), headers)
      end

      # @param request_method [String]
      # @param target [String]
      # @param version [String]
      # @param headers [Hash{String => String}]
      def initialize(request_method, target, version, headers)
        super(headers)
        @request_method = request_method
        @target = target
        @version = version.b
      end
    end
  end
end
