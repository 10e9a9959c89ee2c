# frozen_string_literal: true

module WsUnmask
  # The negotiation of compressed messages in the opening handshake: permessage-deflate (RFC 7692).
  # It does no IO: headers in, headers out. What both ends agree on is an {Agreement}, which makes a
  # {Decoder} inflate and an {Encoder} deflate.
  #
  # The +server_+ parameters are for what the server compresses, the +client_+ parameters for what
  # the client does:
  #
  # - +no_context_takeover+: each message is compressed for itself. Both ends hold less memory, and
  #   messages that are alike take several times as many bytes.
  # - +max_window_bits+: how far back a message may refer is 2 to the power of this, in bytes.
  #
  # {Encoder} has a table of what they cost.
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
    # What this end wants. A window of 8 bits is one of 9 for what this end compresses: it has none
    # of 8.
    # @param server_no_context_takeover [Boolean]
    # @param client_no_context_takeover [Boolean]
    # @param server_max_window_bits [Integer] from 8 to 15
    # @param client_max_window_bits [Integer] from 8 to 15
    # @raise [ArgumentError] if bits are not in that range
    # @raise [TypeError] if bits are not an Integer
    def initialize(server_no_context_takeover: false, client_no_context_takeover: false,
                   server_max_window_bits: 15, client_max_window_bits: 15)
      set_up(server_no_context_takeover, client_no_context_takeover, server_max_window_bits,
             client_max_window_bits)
    end

    ##
    # :method: accept
    # @!method accept(header)
    #   As a server: accepts the first offer that is acceptable. What it demands is fulfilled, and
    #   what this end wants goes on top where RFC 7692 allows it.
    #   @param header [String, nil] +Sec-WebSocket-Extensions+ of the request; of several, their
    #     values joined by commas
    #   @return [Agreement, nil] nil if there is no such offer: messages are not compressed then
    #   @raise [NegotiationError] if the header is malformed: the answer is 400
    #   @raise [TypeError] if it is not a String

    ##
    # :method: offer
    # @!method offer
    #   @return [String] as a client: +Sec-WebSocket-Extensions+ of the request

    ##
    # :method: confirm
    # @!method confirm(header)
    #   As a client: reads what the server has made of {offer}.
    #   @param header [String, nil] +Sec-WebSocket-Extensions+ of the response
    #   @return [Agreement, nil] nil if the server has declined
    #   @raise [NegotiationError] if it does not fit the offer, or is malformed: the connection has
    #     to be failed
    #   @raise [TypeError] if it is not a String

    # What both ends have agreed on, and which of them this is.
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
