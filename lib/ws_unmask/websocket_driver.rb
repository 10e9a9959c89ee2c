# frozen_string_literal: true

require "ws_unmask"

module WsUnmask
  # Lets the websocket-driver gem, and so Action Cable, Faye and most Rack apps, receive and send
  # with {WsUnmask}.
  #
  # What is ordinary goes the short way: frames that lie whole in what was read, texts and binary
  # messages to be sent. Everything else (the handshake, a frame's parts, what is wrong, control
  # frames, extensions) is left to the driver's own methods, on the driver's own state.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket_driver"
  module WebSocketDriver
    # Takes the place of the driver's own +WebSocket::Mask.mask+.
    module Mask
      # @param payload [String] the masked bytes; they are not changed
      # @param mask [String, nil] the masking key
      # @return [String] the plain bytes in ASCII-8BIT; +payload+ itself if +mask+ is nil or not of
      #   4 bytes, as in the driver's C extension
      # @raise [TypeError] if +payload+ or +mask+ is not a String
      def mask(payload, mask)
        return payload if mask.nil? || (mask.is_a?(String) && mask.bytesize != 4)

        WsUnmask.unmask(payload, mask)
      end
    end

    # Takes the place of +WebSocket::Driver::EventEmitter#emit+, which costs as much as all else
    # that is done for a short message.
    module EventEmitter
      # @param event [Symbol, String]
      # @return [Array<#call>] the listeners that were called
      def emit(event, *args)
        listeners = @listeners[event.is_a?(Symbol) ? event.name : event.to_s]
        return super unless listeners.size == 1

        listener = listeners.first
        listener.call(*args)
        [listener]
      end
    end

    # What {Hybi} asks of the driver's reader besides what that has.
    # @api private
    module FrameReader
      # @param require_mask [Boolean]
      # @return [Frame, nil] the next frame, if it lies here whole and is as it should be
      def peek_frame(require_mask) = Frame.peek(@buffer, @offset, require_mask)

      # @param frame [Frame] what {#peek_frame} returned
      # @return [void]
      def skip_frame(frame)
        @offset += frame.size
        prune if @offset > MOST_KEPT && drained?
      end

      # @return [Boolean] whether all has been read
      def drained? = @offset == @buffer.bytesize

      # Bytes that the driver's reader keeps behind it before it makes itself a new buffer.
      MOST_KEPT = 128
      private_constant :MOST_KEPT
    end

    # Takes the place of a method of +WebSocket::Driver::StreamReader+.
    module StreamReader
      include FrameReader

      # @param chunk [String, nil] the bytes that were read; if none are left of those before, they
      #   are not copied
      # @return [void]
      def put(chunk)
        return super unless drained? && chunk && chunk.bytesize.positive?

        @buffer = chunk.force_encoding(Encoding::BINARY).byteslice(0..)
        @offset = 0
      end
    end

    # What {Hybi} does with frames that carry a message.
    # @api private
    module Messages
      # The driver's own opcodes of what it may send as it is.
      OPCODES = { text: 1, binary: 2 }.freeze
      # The opcodes up to this one are those of a message's frames, the others those of control
      # frames.
      LAST_OF_MESSAGES = 2
      private_constant :OPCODES, :LAST_OF_MESSAGES

      private

      # What most chunks are: one text, and nothing before or behind it.
      def whole_text(chunk)
        return unless @stage.zero? && @message.nil? && @reader.drained? && plain?

        text = Frame.whole_text(chunk, @require_masking)
        text if text && text.bytesize <= @max_length
      end

      # The state is that of between two frames whenever a handler is called: it may raise, close,
      # or parse more.
      def receive_whole_frames
        while @stage.zero? && (whole = @reader.peek_frame(@require_masking))
          opcode = whole.opcode
          payload = whole.payload
          break unless continues?(opcode, payload)

          @reader.skip_frame(whole)
          if @message.nil? && whole.fin? && plain?
            emit_event(as_delivered(opcode, payload))
          else
            collect(data_frame(whole, opcode, payload))
          end
        end
      end

      # Whether the driver would find nothing wrong with it here.
      def continues?(opcode, payload)
        return false if opcode > LAST_OF_MESSAGES || opcode.zero? == @message.nil?

        (@message ? @message.data.bytesize : 0) + payload.bytesize <= @max_length
      end

      # Whether no extension has a say.
      def plain?
        @extensions.instance_variable_get(:@sessions).empty?
      end

      # Whether all versions of the driver send the bytes as they are.
      def as_it_is?(buffer)
        buffer.is_a?(String) &&
          (buffer.encoding == Encoding::UTF_8 || buffer.encoding == Encoding::BINARY)
      end

      def data_frame(whole, opcode, payload)
        frame = ::WebSocket::Driver::Hybi::Frame.new
        frame.final = whole.fin?
        frame.rsv1 = frame.rsv2 = frame.rsv3 = false
        frame.opcode = opcode
        frame.payload = payload.force_encoding(Encoding::BINARY)
        frame
      end

      def collect(frame)
        @message = ::WebSocket::Driver::Hybi::Message.new unless frame.opcode.zero?
        @message << frame
        emit_message if frame.final
      end

      def as_delivered(opcode, payload)
        opcode == OPCODES[:binary] && @binary_data_format != :string ? payload.bytes : payload
      end

      # The driver's emit_message rescues this, too, whoever raised it.
      def emit_event(payload)
        emit(:message, ::WebSocket::Driver::MessageEvent.new(payload))
        nil
      rescue ::WebSocket::Extensions::ExtensionError => e
        __send__(:fail, :extension_error, e.message)
        nil
      end
    end

    # Takes the place of methods of +WebSocket::Driver::Hybi+.
    module Hybi
      include Messages

      # @param chunk [String, nil] the bytes that were read
      # @return [nil]
      def parse(chunk)
        text = whole_text(chunk)
        return emit_event(text) if text

        @reader.put(chunk)
        receive_whole_frames
        super(nil) unless @reader.drained?
      end

      # @param buffer [String, Array<Integer>] the payload
      # @param type [Symbol, nil] +:text+, +:binary+ or another of the driver's types
      # @param code [Integer, nil] a close code
      # @return [Boolean] whether it was, or will be, sent
      def frame(buffer, type = nil, code = nil)
        return super unless @ready_state == 1 && code.nil? && OPCODES.key?(type) &&
                            as_it_is?(buffer) && plain?

        key = SecureRandom.random_bytes(4) if @masking
        @socket.write(Frame.encode(OPCODES[type], buffer, key))
        true
      end

      private

      # A frame that came in several chunks, or that {Messages} left to the driver.
      def emit_frame(buffer)
        frame = @frame
        if frame.opcode > LAST_OF_MESSAGES || (frame.opcode.zero? && @message.nil?)
          super
        else
          @frame = nil
          frame.payload = frame.masked ? WsUnmask.unmask!(buffer, frame.masking_key) : buffer
          collect(frame)
        end
        receive_whole_frames
      end

      def send_frame(frame)
        return super if frame.opcode > LAST_OF_MESSAGES

        reserved = [(1 if frame.rsv1), (2 if frame.rsv2), (3 if frame.rsv3)].compact
        key = frame.masking_key if frame.masked
        @socket.write(Frame.encode(frame.opcode, frame.payload, key, frame.final, reserved))
      end
    end

    # The instance variables that are used here, and of whom.
    def self.check_state
      { ::WebSocket::Driver::StreamReader => %i[@buffer @offset],
        ::WebSocket::Extensions => %i[@sessions] }.each do |owner, names|
        missing = names - owner.new.instance_variables
        raise NameError, "#{owner} has no #{missing.join(" and no ")}" if missing.any?
      end
    end
    private_class_method :check_state

    # @return [DropIn]
    DROP_IN = DropIn.new(:websocket_driver, library: "websocket/driver") do
      check_state
      { ::WebSocket::Mask.singleton_class => Mask,
        ::WebSocket::Driver::EventEmitter => EventEmitter,
        ::WebSocket::Driver::StreamReader => StreamReader,
        ::WebSocket::Driver::Hybi => Hybi }
    end

    extend DropIn::Switch
    install
  end
end
