# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # For +WebSocket::Driver::Hybi+.
    #
    # When a handler is called, the state is that between two frames, so the handler may raise,
    # close the connection, or parse more.
    module Hybi
      # The driver's types that the fast path sends.
      OPCODES = { text: 1, binary: 2 }.freeze
      # The highest opcode of a data frame; those above are of control frames.
      LAST_OF_MESSAGES = 2
      # The first byte of an unfragmented message: FIN, no reserved bits, an opcode.
      TEXT = 0x81
      BINARY = 0x82
      # The driver's stages: between two frames, in a header, and waiting for a payload.
      BETWEEN = 0
      WAITING = 4
      # The driver's state of an open connection. While a connection closes, the driver continues
      # after errors, so everything is left to it.
      OPEN = 1
      # Payloads from this size on are copied by Ruby.
      LARGE = 4096
      # A limit from here on is none: no message can be so long.
      UNLIMITED = 2**63
      private_constant :OPCODES, :LARGE, :UNLIMITED, :LAST_OF_MESSAGES, :TEXT, :BINARY, :BETWEEN,
                       :WAITING, :OPEN

      # @param chunk [String, nil] the bytes that were read
      # @return [nil]
      def parse(chunk)
        if @stage == WAITING && @ready_state == OPEN && chunk.instance_of?(String) &&
           !chunk.empty? && ws_unmask_fast_path?
          ws_unmask_finish if @reader.ws_unmask_add(chunk) >= @frame.length
          return
        end
        @ws_unmask_batch = nil
        return parse_without_ws_unmask(chunk) unless @ready_state == OPEN && ws_unmask_fast_path?

        if @stage == BETWEEN && @reader.ws_unmask_empty? && chunk.instance_of?(String)
          frames = Native.whole_frames(chunk, 0, @require_masking, @ws_unmask_reserved,
                                       @max_length, @message&.data&.bytesize)
        end
        if frames && frames[2] == chunk.bytesize
          chunk.force_encoding(Encoding::BINARY) # as the reader does
          ws_unmask_deliver(frames[0], frames[1])
          ws_unmask_receive(nil) unless @reader.ws_unmask_empty?
        else
          @reader.put(chunk)
          ws_unmask_unread_header
          ws_unmask_receive(frames)
        end
        nil
      end

      # @param buffer [String, Array<Integer>] the payload
      # @param type [Symbol, nil] +:text+, +:binary+ or another of the driver's types
      # @param code [Integer, nil] a close code
      # @return [Boolean] whether it was, or will be, sent
      def frame(buffer, type = nil, code = nil)
        opcode = OPCODES[type]
        if opcode && code.nil? && @ready_state == OPEN && ws_unmask_fast_path? &&
           @ws_unmask_plain && ws_unmask_sendable?(buffer)
          ws_unmask_send(opcode, buffer)
        else
          frame_without_ws_unmask(buffer, type, code)
        end
      end

      # @return [Integer, nil] the maximum bytes of a message; nil for no limit
      def ws_unmask_max_length
        @max_length.floor if @max_length < UNLIMITED # may be Float::INFINITY
      end

      # Closes the connection as for a frame that is too large.
      # @return [void]
      def ws_unmask_fail_too_large
        @ws_unmask_inflates_too_far = @ready_state <= OPEN
        __send__(:fail, :too_large, "WebSocket frame length too large")
      end

      private

      def emit_message
        @extensions.ws_unmask_limit_by(self)
        emit_message_without_ws_unmask
        return unless @ws_unmask_inflates_too_far

        @ws_unmask_inflates_too_far = nil
        ws_unmask_raise_too_big # for the driver rescues what a session raises
      end

      def fail(type, message)
        was_open = @ready_state <= OPEN
        result = fail_without_ws_unmask(type, message)
        ws_unmask_raise_too_big if type == :too_large && was_open
        result
      end

      def ws_unmask_raise_too_big
        return unless WebSocketDriver.raise_message_too_big

        raise MessageTooBigError, "a message is over max_length (#{@max_length} bytes), so the " \
                                  "connection was closed"
      end

      def send_frame(frame)
        unless frame.opcode.is_a?(Integer) && frame.opcode <= LAST_OF_MESSAGES &&
               ws_unmask_fast_path?
          return send_frame_without_ws_unmask(frame)
        end

        reserved = (frame.rsv1 ? 4 : 0) | (frame.rsv2 ? 2 : 0) | (frame.rsv3 ? 1 : 0)
        key = frame.masking_key if frame.masked
        @socket.write(Native.frame(frame.opcode, frame.payload, key, frame.final, reserved))
      end

      # Whether no method that the fast path bypasses is hooked. Called for every message, so it is
      # cheap; and only after the handshake, which determines the extensions.
      def ws_unmask_fast_path?
        changes = HookWatch.changes
        return @ws_unmask_fast_path if @ws_unmask_changes == changes

        @ws_unmask_changes = changes
        @ws_unmask_batch = nil
        @ws_unmask_plain = @extensions.ws_unmask_idle?
        @ws_unmask_reserved = @extensions.ws_unmask_reserved
        @ws_unmask_fast_path = PATCHES.unhooked?([self, @reader, @extensions]) &&
                               @max_length.is_a?(Integer) &&
                               @max_length.between?(0, UNLIMITED)
      end

      def ws_unmask_next_frames
        return unless @stage == BETWEEN && @ready_state == OPEN && ws_unmask_fast_path?

        Native.whole_frames(@reader.ws_unmask_buffer, @reader.ws_unmask_offset, @require_masking,
                            @ws_unmask_reserved, @max_length, @message&.data&.bytesize)
      end

      # Goes back to the start of an incomplete header.
      def ws_unmask_unread_header
        return unless @stage.between?(BETWEEN + 1, WAITING - 1)

        header = @stage < 3 ? @stage : 2 + @frame.length_bytes.to_i
        return unless @reader.ws_unmask_unread(header)

        @stage = BETWEEN
        @frame = nil
      end

      # Delivers the frame whose header was read before, without a copy if it is large, and then the
      # frames after it.
      def ws_unmask_finish
        @ws_unmask_batch = nil
        frame = @frame
        payload = @reader.ws_unmask_take(frame.length)
        @stage = BETWEEN
        key = frame.masking_key
        if key.is_a?(String) && key.bytesize == 4 && !payload.empty?
          WsUnmask.unmask!(payload, key)
          frame.masking_key = nil
        end
        ws_unmask_deliver_finished(frame, payload)
        ws_unmask_receive(nil) unless @reader.ws_unmask_empty?
      end

      def ws_unmask_deliver_finished(frame, payload)
        first_byte = (frame.final ? 0x80 : 0) | frame.opcode
        if @ws_unmask_plain && [TEXT, BINARY].include?(first_byte) &&
           ws_unmask_valid?(first_byte, payload)
          @frame = nil
          ws_unmask_deliver(first_byte, payload)
        else
          emit_frame(payload.force_encoding(Encoding::BINARY))
        end
      end

      # Whether it can be delivered: invalid UTF-8 in text is left to the driver.
      def ws_unmask_valid?(first_byte, payload)
        first_byte == BINARY || payload.force_encoding(Encoding::UTF_8).valid_encoding?
      end

      # Delivers the complete frames in the reader, and leaves the rest to the driver.
      def ws_unmask_receive(frames)
        frames ||= ws_unmask_next_frames
        while frames
          ws_unmask_deliver_all(frames)
          frames = ws_unmask_next_frames
        end
        @reader.ws_unmask_compact if @stage == BETWEEN
        parse_without_ws_unmask(nil) unless @reader.ws_unmask_drained?
      ensure
        @ws_unmask_batch = nil
        @reader.ws_unmask_compact unless @stage.between?(BETWEEN + 1, WAITING - 1)
      end

      # Stops if a listener closes the connection, parses more or hooks a method.
      def ws_unmask_deliver_all(frames)
        @ws_unmask_batch = frames
        index = 0
        while index < frames.size
          @reader.ws_unmask_read_to(frames[index + 2])
          ws_unmask_deliver(frames[index], frames[index + 1])
          break unless @stage == BETWEEN && frames.equal?(@ws_unmask_batch) &&
                       @ws_unmask_changes == HookWatch.changes

          index += 3
        end
      end

      def ws_unmask_deliver(first_byte, payload)
        if first_byte == TEXT && @ws_unmask_plain
          ws_unmask_emit(payload)
        elsif first_byte == BINARY && @ws_unmask_plain
          ws_unmask_emit(@binary_data_format == :string ? payload : payload.bytes)
        else
          frame = ws_unmask_frame(first_byte, payload.force_encoding(Encoding::BINARY))
          if frame.opcode > LAST_OF_MESSAGES
            @frame = frame
            emit_frame(payload)
          else
            ws_unmask_collect(frame)
          end
        end
      end

      # Like emit, but without copies for a single listener; and like emit_message, which rescues
      # this error, no matter what raised it.
      def ws_unmask_emit(payload)
        event = ::WebSocket::Driver::MessageEvent.new(payload)
        listeners = @listeners["message"]
        listeners.size == 1 ? listeners.first.call(event) : emit(:message, event)
      rescue ::WebSocket::Extensions::ExtensionError => e
        __send__(:fail, :extension_error, e.message)
      end

      # Without a masking key, since it is unmasked already.
      def ws_unmask_frame(first_byte, payload)
        frame = ::WebSocket::Driver::Hybi::Frame.new
        frame.final = first_byte.anybits?(0x80)
        frame.rsv1 = first_byte.anybits?(0x40)
        frame.rsv2 = first_byte.anybits?(0x20)
        frame.rsv3 = first_byte.anybits?(0x10)
        frame.opcode = first_byte & 15
        frame.payload = payload
        frame
      end

      def ws_unmask_collect(frame)
        if frame.final && frame.opcode.positive?
          @message = ws_unmask_message(frame)
        else
          @message = ::WebSocket::Driver::Hybi::Message.new unless frame.opcode.zero?
          @message << frame
        end
        emit_message if frame.final
      end

      # Like Message#<<, without copying the payload.
      def ws_unmask_message(frame)
        message = ::WebSocket::Driver::Hybi::Message.new
        message.rsv1 = frame.rsv1
        message.rsv2 = frame.rsv2
        message.rsv3 = frame.rsv3
        message.opcode = frame.opcode
        message.data = frame.payload
        message
      end

      # Whether every version of the driver sends these bytes unchanged.
      def ws_unmask_sendable?(buffer)
        buffer.is_a?(String) &&
          (buffer.encoding == Encoding::UTF_8 || buffer.encoding == Encoding::BINARY)
      end

      # The driver's frame rescues this error, whoever raised it.
      def ws_unmask_send(opcode, payload)
        @socket.write(ws_unmask_frame_of(opcode, payload))
        true
      rescue ::WebSocket::Extensions::ExtensionError => e
        __send__(:fail, :extension_error, e.message)
      end

      # A large payload that is not masked is only copied, which pack does faster.
      def ws_unmask_frame_of(opcode, payload)
        if @masking
          Native.frame(opcode, payload, SecureRandom.random_bytes(4), true, 0)
        elsif payload.bytesize < LARGE
          Native.frame(opcode, payload, nil, true, 0)
        elsif payload.bytesize < 1 << 16
          [0x80 | opcode, 126, payload.bytesize, payload].pack("CCS>a*")
        else
          [0x80 | opcode, 127, payload.bytesize, payload].pack("CCQ>a*")
        end
      end
    end
  end
end
