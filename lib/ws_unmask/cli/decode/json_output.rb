# frozen_string_literal: true

require "json"

module WsUnmask
  class CLI
    class Decode
      # A JSON object a line for each frame.
      class JsonOutput
        # @param out [IO]
        def initialize(out)
          @out = out
        end

        # @param frame [Frame]
        # @param offset [Integer] in the stream
        # @param inflated [String, nil] the plain message, if it was compressed and ends here
        def frame(frame, offset, inflated = nil)
          puts(offset:, type: frame.type, fin: frame.fin?,
               reserved: [1, 2, 3].select { |bit| frame.public_send(:"rsv#{bit}?") },
               masked: frame.masked?, length: frame.payload.bytesize, **content(frame),
               **(inflated ? bytes(:inflated, inflated) : {}))
        end

        # @param offset [Integer] of the byte that is wrong
        # @param code [Integer, nil] the close code that says so
        # @param hint [String, nil] what may help
        def problem(offset, message, code: nil, hint: nil)
          puts({ offset:, error: message, code:, hint: }.compact)
        end

        # @param offset [Integer]
        # @param message [String]
        def note(offset, message) = puts(offset:, note: message)

        # Writes what was shown so far.
        def flush = @out.flush

        private

        def puts(object)
          @out.puts JSON.generate(object)
        end

        def content(frame)
          payload = frame.payload
          if frame.type == :close && payload.bytesize >= 2
            code, reason = payload.unpack("na*")
            { code:, reason: reason.force_encoding("UTF-8").scrub }
          else
            bytes(:payload, payload)
          end
        end

        def bytes(name, payload)
          if payload.encoding == Encoding::UTF_8 || payload.ascii_only?
            { name => payload.encode("UTF-8") }
          else
            { "#{name}_hex": payload.unpack1("H*") }
          end
        end
      end
    end
  end
end
