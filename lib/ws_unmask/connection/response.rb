# frozen_string_literal: true

require_relative "head"

module WsUnmask
  class Connection
    # The response of a server.
    class Response < Head
      LINE = %r{\AHTTP/1\.1 (\d{3})(?: |\z)}n
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

      # @param status [Integer]
      # @param headers [Hash{String => String}]
      def initialize(status, headers)
        super(headers)
        @status = status
      end
    end
  end
end
