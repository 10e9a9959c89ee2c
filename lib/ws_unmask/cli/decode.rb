# frozen_string_literal: true

require_relative "decode/hex_input"
require_relative "decode/inflated_messages"
require_relative "decode/json_output"
require_relative "decode/text_output"

module WsUnmask
  class CLI
    # +ws_unmask decode+: shows the frames of a captured stream while it is read, and the protocol
    # violation if there is one. A {Decoder} finds violations; what it accepts is shown frame by
    # frame, and a compressed message is shown inflated with its last frame.
    class Decode
      # The input does not match the options.
      class InputError < StandardError; end

      READ_SIZE = 64 << 10
      # It inflates what either side has compressed with any parameters.
      DEFLATE = Deflate.new.accept("permessage-deflate")
      private_constant :READ_SIZE, :DEFLATE

      # @param out [IO]
      # @param json [Boolean] whether each line is a JSON object
      # @param from [Symbol] +:client+ or +:server+: whether the frames have to be masked
      # @param format [Symbol, nil] +:hex+ or +:raw+; nil: hex if there are only digits
      # @param allow_reserved [Array<Integer>] the reserved bits that extensions use
      # @param deflate [Boolean] whether to inflate messages with RSV1, up to the decoder's limit
      def initialize(out, json: false, from: :client, format: nil, allow_reserved: [],
                     deflate: false)
        @output = (json ? JsonOutput : TextOutput).new(out)
        @format = format
        @rules = { require_mask: from == :client, allow_reserved: }
        @decoder = if deflate then Decoder.new(deflate: DEFLATE, **@rules)
                   else
                     Decoder.new(max_message_size: nil, **@rules)
                   end
        @rules = @rules.merge(allow_reserved: allow_reserved | [1]) if deflate
        @inflated = InflatedMessages.new if deflate
        @read = "".b
        @buffer = "".b # what was read and is not shown yet
        @offset = 0 # of the buffer, in the stream
        @closed = false
        @behind = 0 # bytes behind the close frame
      end

      # @param input [IO] in binary mode
      # @return [Integer] the exit status
      # @raise [InputError] if the input is not hexadecimal digits but should be, or if it begins
      #   with the handshake
      def run(input)
        each_piece(input) do |piece|
          next @behind += piece.bytesize if @closed

          refuse_handshake(piece) if @offset.zero? && @buffer.empty?

          violation = violation_in(piece)
          @buffer << piece
          show_frames(violation ? violation.offset - @offset : @buffer.bytesize)
          return report(violation) if violation
        end
        finish
      end

      private

      def each_piece(input)
        bytes = read(input) or return
        hex = HexInput.new if @format == :hex || (@format.nil? && HexInput.looks_like?(bytes))
        while bytes
          yield hex ? hex.decode(bytes) : bytes
          bytes = read(input)
        end
        yield hex.finish if hex
      end

      def read(input)
        input.readpartial(READ_SIZE, @read)
      rescue EOFError
        nil
      end

      # No frame begins with these bytes: RSV1 is set, and the opcode is reserved or FIN is missing.
      def refuse_handshake(piece)
        kind = { "GET " => "request", "HTTP" => "response" }[piece.byteslice(0, 4)] or return
        raise InputError, "the input begins with an HTTP #{kind}; " \
                          "pass the bytes after the blank line that ends it"
      end

      def violation_in(piece)
        @decoder.feed(piece) do |type, payload|
          next @inflated.decoded(type, payload) if @inflated

          free(payload) if payload.is_a?(String)
        end
        nil
      rescue ProtocolError => e
        e
      end

      # Shows the frames that end before the limit, and removes them from the buffer.
      def show_frames(limit)
        at = 0
        each_frame do |frame|
          break if at + frame.size > limit

          inflated = @inflated&.ended_by(frame)
          @output.frame(frame, @offset + at, inflated)
          free(frame.payload)
          free(inflated) if inflated
          at += frame.size
        end
        @output.flush
        return if at.zero?

        @offset += at
        @buffer.replace(@buffer.byteslice(at..))
        return unless @closed

        @behind = @buffer.bytesize
        @buffer.clear
      end

      def each_frame
        at = 0
        until @closed
          frame = Frame.decode(@buffer, offset: at, max_frame_size: nil, **@rules) or break
          @closed = frame.type == :close
          yield frame
          at += frame.size
        end
      rescue EOFError, ProtocolError
        nil # incomplete, or a violation that the decoder has found as well
      end

      # Frees it now, since the garbage collector would let 32 MiB pile up.
      def free(payload) = payload.clear

      def report(violation)
        @output.problem(violation.offset, violation.message, code: violation.code,
                                                             hint: hint(violation))
        FOUND
      end

      def hint(violation)
        return "use --from server if a server sent this" if violation.is_a?(NotMaskedError)

        bits = violation.message.scan(/RSV(\d) = 1/).join(",")
        return if bits.empty?

        "use --allow-reserved #{bits} if an extension was negotiated" \
          "#{", or --deflate if it was permessage-deflate" if bits == "1" && !@inflated}"
      end

      def finish
        if @behind.positive?
          @output.note(@offset, "#{@behind} bytes after the close frame, which receivers ignore")
        elsif !@buffer.empty?
          @output.problem(@offset, "unexpected end of input inside a frame, " \
                                   "#{@buffer.bytesize} bytes into it")
          return FOUND
        end
        OK
      end
    end
  end
end
