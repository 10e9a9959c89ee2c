# frozen_string_literal: true

module WsUnmask
  # Encodes the messages of one connection, in one direction: messages in, bytes out, a frame each.
  # It does no IO: you write the bytes to the socket.
  #
  # It masks for a client, with keys from the system's randomness, and compresses if that was
  # negotiated (see {Deflate}).
  #
  # An encoder serves one connection. Several threads may call it, and each frame comes out whole;
  # but frames have to be written in the order in which they were encoded, for a compressed message
  # refers to those before it. So hold a lock around both.
  #
  # Memory of a connection, from the first compressed message in each direction on
  # (+ObjectSpace.memsize_of+), and what is sent of JSON messages that differ, in percent:
  #
  #                                  encoder, KiB  decoder, KiB  of 125 B  of 1 KiB
  #   context takeover, 15 bits               273            48        34        26
  #   context takeover, 12 bits               161            48        39        30
  #   context takeover, 9 bits                147            48        51        36
  #   no context takeover                     0.5             1        77        39
  #
  # The bits are those of this end's window: of +server_max_window_bits+ for a server. Without
  # context takeover, the memory of an encoder is shared by all of a thread's.
  #
  # @example
  #   encoder = WsUnmask::Encoder.new
  #   socket.write(encoder.encode(:text, "Hello"))
  #
  # @example Many frames, one write
  #   output = String.new
  #   messages.each { |message| encoder.encode_into(output, :text, message) }
  #   socket.write(output)
  #   output.clear
  class Encoder
    # @param mask [Boolean] whether to mask the frames: true for a client, false for a server
    # @param deflate [Deflate::Agreement, nil] how to compress messages; nil for not at all
    # @param threshold [Integer] the least bytes that a message is compressed from
    # @param level [Integer] from 0 (do not compress) and 1 (fast) to 9 (small)
    # @raise [ArgumentError] if the threshold is negative or the level not in its range
    # @raise [TypeError] if one of them is not an Integer, or +deflate+ not an agreement
    def initialize(mask: false, deflate: nil, threshold: 128, level: 6)
      set_up(mask, deflate, threshold, level)
    end

    ##
    # :method: encode
    # @!method encode(type, payload)
    #   Encodes a whole message, or a control frame.
    #
    #   What does not become shorter is sent as it is, unless the next message may refer to it.
    #   @param type [Symbol, Integer] +:text+, +:binary+, +:close+, +:ping+, +:pong+, or its opcode
    #   @param payload [String, Close] the bytes; text has to be in UTF-8. A {Close} for +:close+
    #   @return [String] the frame, in ASCII-8BIT. It has to be sent if it is compressed
    #   @raise [ArgumentError] if no peer would accept the frame, see {Frame.encode}
    #   @raise [TypeError] if the payload is not a String
    #   @raise [NoMemoryError] if there is no memory; the encoder can go on

    ##
    # :method: encode_into
    # @!method encode_into(output, type, payload)
    #   Appends what {encode} returns to a String, without another one in between.
    #   @param output [String] whose encoding does not matter; it is unchanged if this raises
    #   @param type (see #encode)
    #   @param payload (see #encode)
    #   @return [String] +output+
    #   @raise [ArgumentError] as for {encode}, or if +output+ is the payload
    #   @raise [FrozenError] if +output+ is frozen
    #   @raise [TypeError, NoMemoryError] as for {encode}
  end
end
