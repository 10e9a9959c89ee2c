# frozen_string_literal: true

module WsUnmask
  module Midori
    # For +Midori::WebSocket+, whose own +decode+ supports only payloads up to 125 bytes.
    module WebSocket
      # Sets +@opcode+, and +@msg+ to a String in UTF-8 or, for a binary frame, an Array of
      # Integers.
      # @param data [StringIO, #getbyte, #read] where the frame is read from
      # @return [nil]
      # @raise [::Midori::Exception::ContinuousFrame] for a fragment
      # @raise [::Midori::Exception::OpCodeError] for an unknown opcode
      # @raise [::Midori::Exception::NotMasked] for a frame that is not masked
      # @raise [EOFError] if the input ends inside the frame
      # @raise [MessageTooBigError] for a payload of more than 64 MiB
      def decode(data)
        return decode_without_ws_unmask(data) unless PATCHES.unhooked?([self])

        first = data.getbyte or raise EOFError, "no frame"
        @opcode = first & 0x0f
        raise ::Midori::Exception::ContinuousFrame if first < 0x80
        raise ::Midori::Exception::OpCodeError unless OPCODES.include?(@opcode)

        if @opcode == CLOSE
          close
        else
          payload = Frame.read(AsBinary.new(data)).payload
          @msg = @opcode == BINARY ? payload.bytes : payload.force_encoding(Encoding::UTF_8)
        end
        nil
      rescue NotMaskedError
        raise ::Midori::Exception::NotMasked
      end

      BINARY = 2
      CLOSE = 8
      OPCODES = [1, BINARY, CLOSE, 9, 10].freeze
      private_constant :BINARY, :CLOSE, :OPCODES

      # A frame whose first byte was read already, read as binary: Midori does not check UTF-8.
      # @api private
      class AsBinary
        # @param io [#getbyte, #read]
        def initialize(io)
          @io = io
          @first = 0x82
        end

        # @return [Integer, nil]
        def getbyte
          first = @first
          @first = nil
          first || @io.getbyte
        end

        # @return [String, nil]
        def read(length) = @io.read(length)
      end
      private_constant :AsBinary
    end
  end
end
