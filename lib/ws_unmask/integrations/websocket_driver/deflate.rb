# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # Compression (permessage-deflate, RFC 7692) for websocket-driver: an extension for its
    # +add_extension+, also with Faye. It inflates up to the driver's +max_length+; above that, the
    # driver closes with 1009.
    #
    # A single object serves any number of connections. {Encoder} lists the costs of a connection.
    #
    # @example
    #   driver = WebSocket::Driver.rack(socket, max_length: 1024 * 1024)
    #   driver.add_extension(WsUnmask::WebSocketDriver::Deflate.new(server_max_window_bits: 12))
    # @example With Faye
    #   DEFLATE = WsUnmask::WebSocketDriver::Deflate.new
    #   socket = Faye::WebSocket.new(env, [], extensions: [DEFLATE])
    class Deflate
      NAME = "permessage-deflate"
      private_constant :NAME

      # @param level [Integer] from 0 (do not compress) and 1 (fast) to 9 (small)
      # @param threshold [Integer] the least bytes that a message is compressed from
      # @param wanted (see WsUnmask::Deflate#initialize)
      # @raise [ArgumentError, TypeError] as {Encoder} and {WsUnmask::Deflate} do
      def initialize(level: 6, threshold: 128, **wanted)
        Encoder.new(level:, threshold:) # raises if they are invalid
        @deflate = WsUnmask::Deflate.new(**wanted)
        @level = level
        @threshold = threshold
      end

      # @return [String]
      def name = NAME

      # @return [String]
      def type = "permessage"

      # @return [true]
      def rsv1 = true

      # @return [false]
      def rsv2 = false

      # @return [false]
      def rsv3 = false

      # @param offers [Array<Hash>] the client's, the parameters of each
      # @return [Session, nil] nil if none of them is acceptable
      def create_server_session(offers)
        agreement = accepted(offers)
        agreement && Session.new(@level, @threshold).agree(agreement)
      end

      # @return [ClientSession]
      def create_client_session = ClientSession.new(@deflate, @level, @threshold)

      # Converts parameters between a header and the form of websocket-extensions.
      # @api private
      module Header
        # @param params [Hash]
        # @return [String]
        def self.of(params) = ::WebSocket::Extensions::Parser.serialize_params(NAME, params)

        # @param header [String]
        # @return [Hash]
        def self.params(header)
          ::WebSocket::Extensions::Parser.parse_header(header).by_name(NAME).first
        end
      end

      # The session of a connection.
      # @api private
      class Session
        include DeflateSession

        # @param level [Integer]
        # @param threshold [Integer]
        def initialize(level, threshold)
          @level = level
          @threshold = threshold
        end

        # @param agreement [WsUnmask::Deflate::Agreement]
        # @return [self]
        def agree(agreement)
          server = [agreement.server_no_context_takeover?, agreement.server_max_window_bits]
          client = [agreement.client_no_context_takeover?, agreement.client_max_window_bits]
          own, peer = agreement.role == :server ? [server, client] : [client, server]
          @response = agreement.response
          @no_context_takeover, @window_bits = own
          @peer_no_context_takeover, = peer
          self
        end

        # @return [Hash]
        def generate_response = Header.params(@response)

        # Like {Encoder}, it sends a message that compression does not shorten uncompressed, unless
        # the next message may refer to it.
        # @param message [#data, #rsv1] to be sent
        # @return [#data, #rsv1] the same
        def process_outgoing_message(message)
          plain = message.data
          return message if plain.empty? || plain.bytesize < @threshold

          payload = ws_unmask_deflater.deflate(plain)
          return message if @no_context_takeover && payload.bytesize >= plain.bytesize

          message.rsv1 = true
          message.data = payload
          message
        end

        private

        def ws_unmask_inflater
          @ws_unmask_inflater ||= Native::Inflater.new(@peer_no_context_takeover)
        end

        def ws_unmask_deflater
          @ws_unmask_deflater ||= Native::Deflater.new(@window_bits, @no_context_takeover, @level)
        end
      end

      # A client's session, which gets its agreement later.
      # @api private
      class ClientSession < Session
        # @param deflate [WsUnmask::Deflate]
        # @param level [Integer]
        # @param threshold [Integer]
        def initialize(deflate, level, threshold)
          super(level, threshold)
          @deflate = deflate
        end

        # @return [Hash]
        def generate_offer = Header.params(@deflate.offer)

        # @param params [Hash] the server's
        # @return [Boolean] whether they are acceptable
        def activate(params)
          agree(@deflate.confirm(Header.of(params)))
          true
        rescue NegotiationError
          false
        end
      end
      private_constant :Header, :Session, :ClientSession

      private

      # The driver's parser accepts one malformed form: an empty quoted value.
      def accepted(offers)
        offers.each do |params|
          agreement = @deflate.accept(Header.of(params))
          return agreement if agreement
        rescue NegotiationError
          next
        end
        nil
      end
    end
  end
end
