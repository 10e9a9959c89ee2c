# frozen_string_literal: true

module WsUnmask
  # Negotiates compression (permessage-deflate, RFC 7692) in the opening handshake. It does no IO:
  # headers in, headers out. The result is an {Agreement}; pass it to {Decoder} and {Encoder}, which
  # then inflate and deflate.
  #
  # The +server_+ parameters apply to what the server compresses, the +client_+ parameters to what
  # the client compresses:
  #
  # - +no_context_takeover+: each message is compressed independently. Both ends need less memory,
  #   and similar messages take several times as many bytes.
  # - +max_window_bits+: the base-2 logarithm of the window, which is how many bytes back a message
  #   may refer.
  #
  # {Encoder} has a table of their costs.
  #
  # @example A server
  #   agreement = WsUnmask::Deflate.new.accept(env["HTTP_SEC_WEBSOCKET_EXTENSIONS"])
  #   headers["Sec-WebSocket-Extensions"] = agreement.response if agreement
  #   decoder = WsUnmask::Decoder.new(deflate: agreement)
  #   encoder = WsUnmask::Encoder.new(deflate: agreement)
  #
  # @example A client
  #   deflate = WsUnmask::Deflate.new
  #   request["Sec-WebSocket-Extensions"] = deflate.offer
  #   agreement = deflate.confirm(response["Sec-WebSocket-Extensions"])
  #   decoder = WsUnmask::Decoder.new(forbid_mask: true, deflate: agreement)
  #   encoder = WsUnmask::Encoder.new(mask: true, deflate: agreement)
  class Deflate
    # The parameters that this end asks for. It compresses with at least 9 window bits, even if 8
    # are asked for.
    # @param server_no_context_takeover [Boolean]
    # @param client_no_context_takeover [Boolean]
    # @param server_max_window_bits [Integer] from 8 to 15
    # @param client_max_window_bits [Integer] from 8 to 15
    # @raise [ArgumentError] if window bits are out of range
    # @raise [TypeError] if window bits are not an Integer
    def initialize(server_no_context_takeover: false, client_no_context_takeover: false,
                   server_max_window_bits: 15, client_max_window_bits: 15)
      set_up(server_no_context_takeover, client_no_context_takeover, server_max_window_bits,
             client_max_window_bits)
    end

    ##
    # :method: accept
    # @!method accept(header)
    #   For a server: accepts the first acceptable offer, with the parameters that it demands, and
    #   with this end's where RFC 7692 allows them.
    #   @param header [String, nil] +Sec-WebSocket-Extensions+ of the request; if there are several,
    #     their values joined by commas
    #   @return [Agreement, nil] nil if no offer is acceptable: messages are then not compressed
    #   @raise [NegotiationError] if the header is malformed: respond with 400
    #   @raise [TypeError] if it is not a String

    ##
    # :method: offer
    # @!method offer
    #   @return [String] for a client: +Sec-WebSocket-Extensions+ of the request

    ##
    # :method: confirm
    # @!method confirm(header)
    #   For a client: reads the server's response to {offer}. It refuses other extensions.
    #   @param header [String, nil] +Sec-WebSocket-Extensions+ of the response
    #   @return [Agreement, nil] nil if the server has declined
    #   @raise [NegotiationError] if it does not match the offer, or is malformed: close the
    #     connection
    #   @raise [TypeError] if it is not a String

    # The parameters that both ends have agreed on, and which end this is.
    class Agreement
      ##
      # :method: role
      # @!method role
      #   @return [Symbol] +:server+ or +:client+

      ##
      # :method: response
      # @!method response
      #   @return [String, nil] for a server, +Sec-WebSocket-Extensions+ of the response; nil for a
      #     client

      ##
      # :method: server_no_context_takeover?
      # @!method server_no_context_takeover?
      #   @return [Boolean]

      ##
      # :method: client_no_context_takeover?
      # @!method client_no_context_takeover?
      #   @return [Boolean]

      ##
      # :method: server_max_window_bits
      # @!method server_max_window_bits
      #   @return [Integer]

      ##
      # :method: client_max_window_bits
      # @!method client_max_window_bits
      #   @return [Integer]

      # @return [String] the role and the parameters
      def inspect
        "#<#{self.class} #{role}, " \
          "server_no_context_takeover: #{server_no_context_takeover?}, " \
          "client_no_context_takeover: #{client_no_context_takeover?}, " \
          "server_max_window_bits: #{server_max_window_bits}, " \
          "client_max_window_bits: #{client_max_window_bits}>"
      end
    end
  end
end
