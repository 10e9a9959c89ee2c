# frozen_string_literal: true

require "zlib"

# The other end of a connection with compression, with Ruby's zlib as an independent
# implementation.
class ZlibPeer
  TAIL = "\x00\x00\xff\xff".b
  private_constant :TAIL

  def initialize(window_bits: 15, context_takeover: true)
    @window_bits = window_bits
    @context_takeover = context_takeover
  end

  # @return [String] the payload of a compressed message (RFC 7692, section 7.2.1)
  def deflate(plain)
    @deflate = nil unless @context_takeover
    @deflate ||= Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -@window_bits)
    return "\0".b if plain.empty?

    @deflate.deflate(plain, Zlib::SYNC_FLUSH).delete_suffix(TAIL)
  end

  # @return [String] the plain message
  def inflate(payload)
    @inflate = nil unless @context_takeover
    @inflate ||= Zlib::Inflate.new(-@window_bits)
    @inflate.inflate(payload) + @inflate.inflate(TAIL)
  end
end
