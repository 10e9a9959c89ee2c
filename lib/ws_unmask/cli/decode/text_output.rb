# frozen_string_literal: true

module WsUnmask
  class CLI
    class Decode
      # A line for people to read for each frame.
      class TextOutput
        # Bytes of a payload that are shown.
        SHOWN = 60
        private_constant :SHOWN

        # @param out [IO]
        def initialize(out)
          @out = out
          @lines = +""
        end

        # @param frame [Frame]
        # @param offset [Integer] in the stream
        # @param inflated [String, nil] the plain message, if it was compressed and ends here
        def frame(frame, offset, inflated = nil)
          @lines << format("%8d  %-12s %-5s %-8s %8d bytes  %s\n", offset, frame.type,
                           flags(frame), ("masked" if frame.masked?), frame.payload.bytesize,
                           inflated ? inflated_summary(inflated) : summary(frame))
        end

        # @param offset [Integer] of the byte that is wrong
        # @param code [Integer, nil] the close code that says so
        # @param hint [String, nil] what may help
        def problem(offset, message, code: nil, hint: nil)
          note(offset, "#{message}#{" (close code #{code})" if code}#{"; #{hint}" if hint}")
        end

        # @param offset [Integer]
        # @param message [String]
        def note(offset, message)
          @lines << "at byte #{offset}: #{message}\n"
          flush
        end

        # Writes what was shown so far.
        def flush
          @out.write(@lines)
          @out.flush
          @lines.clear
        end

        private

        def flags(frame)
          return frame.fin? ? "fin" : "" unless frame.rsv1? || frame.rsv2? || frame.rsv3?

          [("fin" if frame.fin?), ("rsv1" if frame.rsv1?), ("rsv2" if frame.rsv2?),
           ("rsv3" if frame.rsv3?)].compact.join(",")
        end

        def summary(frame)
          payload = frame.payload
          return close_summary(payload) if frame.type == :close && payload.bytesize >= 2

          beginning(payload)
        end

        def inflated_summary(message)
          "inflated to #{message.bytesize} bytes: #{beginning(message)}"
        end

        def beginning(payload)
          shown = payload.byteslice(0, SHOWN)
          shown = if payload.encoding == Encoding::UTF_8 then shown.scrub("").inspect
                  elsif shown.ascii_only? then shown.inspect
                  else
                    shown.byteslice(0, SHOWN / 2).unpack1("H*")
                  end
          payload.bytesize > SHOWN ? "#{shown}..." : shown
        end

        def close_summary(payload)
          code, reason = payload.unpack("na*")
          "#{code} #{reason.force_encoding("UTF-8").scrub.inspect}"
        end
      end
    end
  end
end
