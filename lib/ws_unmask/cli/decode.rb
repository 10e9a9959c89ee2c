# frozen_string_literal: true

require "json"

module WsUnmask
  class CLI
    # +ws_unmask decode+: the frames of a captured stream, and what is wrong with it.
    class Decode
      # Characters of a payload that are shown.
      SHOWN = 60
      private_constant :SHOWN

      # @param out [IO]
      # @param json [Boolean] whether each line is a JSON object
      # @param from [Symbol] +:client+ or +:server+: whether the frames have to be masked
      # @param format [Symbol, nil] +:hex+ or +:raw+; nil: hex if there is nothing but digits
      # @param allow_reserved [Array<Integer>] the reserved bits that extensions have been given
      def initialize(out, json: false, from: :client, format: nil, allow_reserved: [])
        @out = out
        @json = json
        @format = format
        @rules = { require_mask: from == :client, allow_reserved: }
      end

      # @param bytes [String] the stream, or its hexadecimal digits
      # @return [Integer] the exit status
      # @raise [ArgumentError] if they are to be hexadecimal digits and are not
      def run(bytes)
        bytes = unhexed(bytes)
        fault, place = first_fault(bytes)
        offset = each_frame(bytes, place || bytes.bytesize) { |frame, at| show(frame, at) }
        return report(place, fault.message, fault.code) if fault
        return CLI::OK if offset == bytes.bytesize

        report(offset, "the stream ends inside of a frame, #{bytes.bytesize - offset} bytes of " \
                       "which are there")
      end

      private

      def unhexed(bytes)
        digits = bytes.gsub(/0x|[\s:,]/n, "")
        is_hex = digits.match?(/\A\h*\z/) && digits.size.even?
        raise ArgumentError, "these are no hexadecimal digits" if @format == :hex && !is_hex

        is_hex && @format != :raw ? [digits].pack("H*") : bytes
      end

      # Byte by byte, so that its place is known.
      def first_fault(bytes)
        decoder = Decoder.new(max_message_size: nil, **@rules)
        bytes.each_char.with_index do |byte, place|
          decoder.feed(byte)
          decoder.feed("")
        rescue ProtocolError => e
          return [e, place]
        end
        nil
      end

      # @return [Integer] the offset behind the last whole frame before +limit+
      def each_frame(bytes, limit)
        offset = 0
        while offset < limit
          frame = Frame.decode(bytes.byteslice(offset..), max_frame_size: nil, **@rules)
          break if offset + frame.size > limit

          yield frame, offset
          offset += frame.size
        end
        offset
      rescue EOFError, ProtocolError
        offset
      end

      def show(frame, offset)
        reserved = [1, 2, 3].select { |bit| frame.public_send(:"rsv#{bit}?") }
        return @out.puts(JSON.generate(as_json(frame, offset, reserved))) if @json

        @out.puts format("%8d  %-12s %-5s %-8s %8d bytes  %s", offset, frame.type,
                         ["fin", *reserved.map do |bit|
                                   "rsv#{bit}"
                                 end].drop(frame.fin? ? 0 : 1).join(","),
                         ("masked" if frame.masked?), frame.payload.bytesize, summary(frame))
      end

      def as_json(frame, offset, reserved)
        payload = frame.payload
        shown = if readable?(payload) then { payload: payload.encode("UTF-8") }
                else
                  { payload_hex: hex(payload) }
                end
        { offset:, type: frame.type, fin: frame.fin?, reserved:, masked: frame.masked?,
          length: payload.bytesize, **shown }
      end

      def summary(frame)
        payload = frame.payload
        return close_summary(payload) if frame.type == :close && payload.bytesize >= 2

        shown = if readable?(payload) then payload[0, SHOWN].inspect
                else
                  hex(payload.byteslice(0, SHOWN / 2))
                end
        payload.size > SHOWN ? "#{shown}..." : shown
      end

      def close_summary(payload)
        code, reason = payload.unpack("na*")
        "#{code} #{reason.force_encoding("UTF-8").scrub.inspect}"
      end

      def readable?(payload) = payload.encoding == Encoding::UTF_8 || payload.ascii_only?

      def hex(payload) = payload.unpack1("H*")

      def report(offset, message, code = nil)
        @out.puts(if @json then JSON.generate({ offset:, error: message, code: }.compact)
                  else
                    "at byte #{offset}: #{message}#{" (close code #{code})" if code}"
                  end)
        CLI::FOUND
      end
    end
  end
end
