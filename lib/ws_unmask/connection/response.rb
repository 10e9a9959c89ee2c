# frozen_string_literal: true

require_relative "head"

module WsUnmask
  class Connection
    # The response of a server.
    class Response < Head
      # HTTP/1.0 has no status below 200.
      LINE = %r{\AHTTP/1\.(?:1|0(?= [2-5])) (\d{3})(?: |\z)}n
      private_constant :LINE

      # @return [Integer] 101 if the server has accepted
      attr_reader :status

      # @param line [String]
      # @param headers [Hash{String => String}]
      # @return [Response]
      # @raise [HandshakeError]
      def self.parse(line, headers)
        status = line[LINE, 1] or raise HandshakeError, "malformed status line"
        new(Integer(status, 10), headers)
      end

      # @return [Boolean] whether another response follows (RFC 9110, section 15.2)
      def interim? = status.between?(100, 199) && status != 101

      # @param status [Integer]
      # @param headers [Hash{String => String}]
      def initialize(status, headers)
        super(headers)
        @status = status
      end
    end
  end
end
