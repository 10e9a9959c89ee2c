# frozen_string_literal: true

require_relative "head"

module WsUnmask
  class Connection
    # Header lines to send.
    module HeaderLines
      VALUE = /\A[^\x00-\x08\x0a-\x1f\x7f]*\z/
      private_constant :VALUE

      # @raise [ArgumentError] for characters that would end a line
      def self.of(headers)
        headers.map do |name, value|
          unless name.match?(/\A#{Head::TOKEN}\z/o) && value.match?(VALUE)
            raise ArgumentError, "header #{name.inspect} must not be sent"
          end

          "#{name}: #{value}\r\n"
        end.join
      end

      # @raise [ArgumentError] unless they are tokens, each another one (RFC 6455, section 4.1)
      def self.check_subprotocols(names)
        raise ArgumentError, "a subprotocol is named twice" unless names.uniq == names

        names.each do |name|
          next if name.match?(/\A#{Head::TOKEN}\z/o)

          raise ArgumentError, "subprotocol #{name.inspect} must not be sent"
        end
      end
    end
    private_constant :HeaderLines
  end
end
