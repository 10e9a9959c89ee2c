# frozen_string_literal: true

module WsUnmask
  class CLI
    class Decode
      # Hexadecimal digits in any layout ("81 05", "81:05", "0x81,0x05"), piece by piece.
      class HexInput
        # @param bytes [String] the beginning of the input
        # @return [Boolean] whether there are only digits and what separates them
        def self.looks_like?(bytes) = bytes.match?(/\A(?:0x|[\h\s:,])*\z/n)

        def initialize
          @rest = "" # a digit without its partner, or half of "0x"
        end

        # @param text [String]
        # @return [String] the bytes
        # @raise [InputError] if there is anything but digits
        def decode(text)
          text = @rest + text.b
          half = text.end_with?("0") ? text.slice!(-1) : "" # the next one may be an x
          digits = text.gsub(/0x|[\s:,]/n, "")
          wrong = digits[/[^\h]/n]
          raise InputError, "#{wrong.inspect} is not a hexadecimal digit" if wrong

          odd = digits.size.odd? ? digits.slice!(-1) : ""
          @rest = odd + half
          [digits].pack("H*")
        end

        # @return [String] the bytes that were held back
        # @raise [InputError] if a digit has no partner
        def finish
          return [@rest].pack("H*") if @rest.size.even?

          raise InputError, "odd number of hexadecimal digits: half a byte is missing"
        end
      end
    end
  end
end
