# frozen_string_literal: true

require_relative "../errors"

module WsUnmask
  class Connection
    # The head of an HTTP message.
    class Head
      # The characters of a name (RFC 7230, section 3.2.6).
      TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/
      HEADER = /\A(#{TOKEN}):([^\x00-\x08\x0a-\x1f\x7f]*)\z/n
      private_constant :HEADER

      # @return [Hash{String => String}] by their names in lower case, in ASCII-8BIT; several of the
      #   same name are joined by commas
      attr_reader :headers

      # @param lines [Array<String>]
      # @return [Hash{String => String}]
      # @raise [HandshakeError]
      def self.headers(lines)
        lines.each_with_object({}) do |line, headers|
          _, name, value = *HEADER.match(line)
          raise HandshakeError, "malformed header" unless name

          name.downcase!
          value = value.strip # in the regular expression, this could take quadratic time
          headers[name] = headers.key?(name) ? "#{headers[name]}, #{value}" : value
        end
      end

      # @param headers [Hash{String => String}] by their names in upper or lower case
      def initialize(headers)
        @headers = headers.to_h { |name, value| [name.downcase, value.b] }
      end

      # @param name [String]
      # @return [String, nil] the value of a header
      def [](name)
        headers[name.downcase]
      end

      # @param name [String]
      # @return [Array<String>] the elements of a header that is a list
      def list(name)
        self[name].to_s.split(",").map(&:strip)
      end

      # @param name [String]
      # @param element [String]
      # @return [Boolean] whether a list has the element, in upper or lower case
      def list?(name, element)
        list(name).any? { |other| other.casecmp(element)&.zero? }
      end
    end
  end
end
