# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # The message that is being received, frame by frame, within {ProtocolWebSocket.limits}.
    class LimitedMessage
      TOO_BIG = 1009
      NOT_UTF8 = 1007
      TEXT = 1
      LAST_OF_MESSAGES = 2
      # A control frame's payload is at most this long, and is no part of a message.
      MOST_IN_CONTROL_FRAME = 125
      # How the library's error for a length over its maximum begins.
      LENGTH_ERROR = "Invalid payload length"
      private_constant :TOO_BIG, :NOT_UTF8, :TEXT, :LAST_OF_MESSAGES, :MOST_IN_CONTROL_FRAME,
                       :LENGTH_ERROR

      # @param limits [Limits]
      def initialize(limits)
        @limits = limits
        finish
      end

      # @return [Integer] the most bytes that the next frame of a message may have
      def room = [@limits.max_frame_size, @limits.max_message_size - @size].min

      # @param maximum [Integer] the caller's own limit
      # @yieldparam most [Integer] the limit for the next frame
      # @yieldreturn [::Protocol::WebSocket::Frame]
      # @return [::Protocol::WebSocket::Frame]
      # @raise [::Protocol::WebSocket::ProtocolError] with code 1009 or 1007
      def frame(maximum)
        room = self.room
        frame = yield [maximum, [room, MOST_IN_CONTROL_FRAME].max].min
        frame.opcode > LAST_OF_MESSAGES ? frame : add(frame, room)
      rescue ::Protocol::WebSocket::ProtocolError => e
        raise e unless room < maximum && e.message.start_with?(LENGTH_ERROR)

        raise too_big(room)
      end

      private

      def add(frame, room)
        length = frame.payload.bytesize
        raise too_big(room) if length > room

        @size += length
        @is_text = frame.opcode == TEXT && frame.flags.zero? unless frame.opcode.zero?
        check_text(frame) if @limits.validate_utf8 && @is_text
        finish if frame.finished?
        frame
      end

      def finish
        @size = 0
        @is_text = false
        @cut = "".b
      end

      def too_big(room)
        limit = room == @limits.max_frame_size ? "frame" : "message"
        error("A #{limit} is over #{@limits["max_#{limit}_size"]} bytes", TOO_BIG)
      end

      # @cut is the part of a character in which the text so far ends.
      def check_text(frame)
        text = @cut << frame.unpack.b
        raise error("invalid UTF-8 in text frame!", NOT_UTF8) unless
          Native.text?(text, frame.finished?)

        @cut = cut_at_the_end(text)
      end

      def cut_at_the_end(text)
        last = (1..[3, text.bytesize].min).find { |back| text.getbyte(-back) >= 0xc0 }
        return "".b unless last

        first = text.getbyte(-last)
        length = if first >= 0xf0 then 4
                 else
                   first >= 0xe0 ? 3 : 2
                 end
        last < length ? text.byteslice(-last, last) : "".b
      end

      def error(message, code) = ::Protocol::WebSocket::ProtocolError.new(message, code)
    end
  end
end
