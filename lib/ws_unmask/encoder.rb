# frozen_string_literal: true

module WsUnmask
  # A sans-IO encoder for one direction of a connection: messages in, bytes out, one frame for each
  # message. You write the bytes to the socket.
  #
  # For a client it masks, with keys from the operating system's random source. It compresses if
  # that was negotiated (see {Deflate}).
  #
  # An encoder serves one connection. Several threads may call it, and each frame comes out whole.
  # But a compressed message refers to the messages before it, so frames have to be written in the
  # order in which they were encoded: hold a lock around encoding and writing.
  #
  # Memory of a connection after the first compressed message in each direction
  # (+ObjectSpace.memsize_of+), and the compressed size of varied JSON messages, in percent:
  #
  #                                  encoder, KiB  decoder, KiB  of 125 B  of 1 KiB
  #   context takeover, 15 bits               273            48        34        26
  #   context takeover, 12 bits               161            48        39        30
  #   context takeover, 9 bits                147            48        51        36
  #   no context takeover                     0.5             1        77        39
  #
  # The bits are those of this end's window: +server_max_window_bits+ for a server. Without context
  # takeover, all encoders of a thread share one compressor.
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
    # @param deflate [Deflate::Agreement, nil] how to compress messages; nil for no compression
    # @param threshold [Integer] the size in bytes from which on messages are compressed
    # @param level [Integer] from 0 (do not compress) and 1 (fast) to 9 (small)
    # @raise [ArgumentError] if the threshold is negative or the level is out of range
    # @raise [TypeError] if either is not an Integer, or +deflate+ not an agreement
    def initialize(mask: false, deflate: nil, threshold: 128, level: 6)
      set_up(mask, deflate, threshold, level)
    end

    ##
    # :method: encode
    # @!method encode(type, payload)
    #   Encodes a whole message, or a control frame.
    #
    #   A message that compression does not shorten is sent uncompressed, unless the next message
    #   may refer to it.
    #   @param type [Symbol, Integer] +:text+, +:binary+, +:close+, +:ping+, +:pong+, or its opcode
    #   @param payload [String, Close] the bytes; text has to be in UTF-8. A {Close} for +:close+
    #   @return [String] the frame, in ASCII-8BIT. If it is compressed, it must be sent
    #   @raise [ArgumentError] if no peer would accept the frame, see {Frame.encode}
    #   @raise [TypeError] if the payload is not a String
    #   @raise [NoMemoryError] if there is not enough memory; the encoder remains usable

    ##
    # :method: encode_into
    # @!method encode_into(output, type, payload)
    #   Like {encode}, but appends the frame to a String, without a temporary one.
    #   @param output [String] in any encoding; it is unchanged if this raises
    #   @param type (see #encode)
    #   @param payload (see #encode)
    #   @return [String] +output+
    #   @raise [ArgumentError] as for {encode}, or if +output+ is the payload
    #   @raise [FrozenError] if +output+ is frozen
    #   @raise [TypeError, NoMemoryError] as for {encode}
  end
end
