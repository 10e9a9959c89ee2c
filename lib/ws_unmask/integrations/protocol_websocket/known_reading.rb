# frozen_string_literal: true

require_relative "../../method_source"

module WsUnmask
  module ProtocolWebSocket
    # The library's methods that {Framer} and {Connection} stand in for. A later version may check
    # more: if the code of these is not known, they are left alone.
    module KnownReading
      # The digests of the methods between a stream and a frame; whether a frame has a +@length+.
      FRAMES = {
        "12b3e7acc99d7b75" => true, # 0.10 to 0.19, 0.20.1
        "4962f1f90a1be4c3" => true, # 0.20.2
        "644b34aa5855095f" => false # 0.21
      }.freeze
      # The digests of the methods between a frame and a message.
      MESSAGES = [
        "fadbaecbd9344f40", # 0.12 to 0.20
        "b1d3ea9d9115b501" # 0.21
      ].freeze
      CONNECTION = %i[read_frame receive_text receive_binary unpack_frames closed?].freeze
      MESSAGE_FRAME = %i[apply read_message].freeze
      private_constant :FRAMES, :MESSAGES, :CONNECTION, :MESSAGE_FRAME

      class << self
        # @return [Boolean]
        def frames?
          FRAMES.key?(@digest = digest(methods_of(under_frames)))
        end

        # @return [Boolean]
        def messages?
          read = library::Connection.instance_method(:read)
          frames? && MESSAGES.include?(digest([read, *methods_of(under_messages)]))
        end

        # @return [Boolean] whether a frame has a +@length+
        def length? = FRAMES.fetch(@digest)

        # @return [Hash{Module => Array<Symbol>}] what {Framer} bypasses, with the method itself
        def under_frames
          { library::Framer => present(library::Framer, :read_frame, :read_header),
            library::Frame.singleton_class =>
              present(library::Frame.singleton_class, :parse_header, :read),
            library::Frame => %i[initialize] }
        end

        # @return [Hash{Module => Array<Symbol>}] what {Connection} bypasses
        def under_messages
          { library::Connection => CONNECTION, library::TextFrame => MESSAGE_FRAME,
            library::BinaryFrame => MESSAGE_FRAME, library::Frame => %i[unpack initialize] }
        end

        # @return [Array<Array>] arguments of {PatchSet#leave_out}, for what frames of messages have
        #   from +Frame+
        def inherited_by_messages
          inherited = { library::Frame => %i[unpack mask_xor] }
          [library::TextFrame, library::BinaryFrame].map { |kind| [kind, MESSAGE_FRAME, inherited] }
        end

        private

        def library = ::Protocol::WebSocket

        def present(owner, *names) = names.select { |name| owner.method_defined?(name) }

        def methods_of(names_by_owner)
          names_by_owner.flat_map do |owner, names|
            names.map { |name| owner.instance_method(name) }
          end
        end

        def digest(methods) = MethodSource.digest(*methods)
      end
    end
  end
end
