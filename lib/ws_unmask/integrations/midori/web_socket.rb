# frozen_string_literal: true

module WsUnmask
  module Midori
    # For +Midori::WebSocket+, whose own +decode+ takes a byte at a time from +data+, and supports
    # only payloads up to 125 bytes.
    module WebSocket
      # The opcodes, and the form of their payloads.
      OPCODES = { 1 => :text, 2 => :bytes, 8 => :bytes, 9 => :text, 10 => :text }.freeze
      CLOSE = 8
      ANY_RESERVED = 7
      private_constant :OPCODES, :CLOSE, :ANY_RESERVED

      # Sets +@opcode+, and +@msg+ to a String in UTF-8 or, for a binary frame, an Array of
      # Integers.
      # @param data [StringIO, #getbyte, #read] where the frame is read from
      # @return [nil]
      # @raise [::Midori::Exception::ContinuousFrame] for a fragment
      # @raise [::Midori::Exception::OpCodeError] for an unknown opcode
      # @raise [::Midori::Exception::FrameEnd] for a close frame
      # @raise [::Midori::Exception::NotMasked] for a frame that is not masked
      # @raise [EOFError] if the input ends inside the frame
      # @raise [MessageTooBigError] for a payload of more than 64 MiB
      def decode(data)
        @opcode = ws_unmask_opcode(data)
        kind = OPCODES[@opcode]
        raise ::Midori::Exception::OpCodeError, "OpCode #{@opcode} not supported" unless kind

        close if @opcode == CLOSE
        payload = ws_unmask_payload(data)
        @msg = kind == :bytes ? payload.bytes : payload.force_encoding(Encoding::UTF_8)
        nil
      end

      private

      # Raises exceptions with Midori's own messages.
      def ws_unmask_opcode(data)
        first = data.getbyte or raise EOFError, "no frame"
        return first & 0x0f if first > 0x7f

        raise ::Midori::Exception::ContinuousFrame, "Continous Frame hasn't been implemented yet"
      end

      # Reads the rest of a frame after its first byte.
      def ws_unmask_payload(data)
        if data.instance_of?(StringIO)
          _, payload, size = Native.whole_frame(data.string, data.pos - 1, true, ANY_RESERVED)
        end
        return Frame.read(AsBinary.new(data)).payload unless payload

        data.pos = size
        payload
      rescue NotMaskedError
        raise ::Midori::Exception::NotMasked, "Messages from client MUST be masked"
      end

      # An IO for a frame whose first byte was read, as a binary frame: Midori does not check UTF-8.
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
