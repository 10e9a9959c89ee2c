# frozen_string_literal: true

require_relative "ws_unmask/errors"
require_relative "ws_unmask/close"
require_relative "ws_unmask/extension"
require_relative "ws_unmask/deflate"
require_relative "ws_unmask/decoder"
require_relative "ws_unmask/encoder"
require_relative "ws_unmask/frame"
require_relative "ws_unmask/native"
require_relative "ws_unmask/connection"
require_relative "ws_unmask/patch_set"

# Unmasks what WebSocket clients send, in Rust.
#
# RFC 6455, section 5.3 makes every client XOR its payload with a four-byte masking key. XOR is its
# own inverse, so the methods that unmask also mask.
#
# These methods take the same arguments:
#
# - +payload+: the masked bytes. The encoding of a String does not matter.
# - +key+: the masking key, a String of 4 bytes or an Array of four Integers in 0..255.
# - +offset+: where in the frame's payload this piece begins, in bytes. This is for a
#   payload that arrives in pieces.
#
# They check them before they change anything, and raise:
#
# - ArgumentError if the key is not 4 bytes long, or the offset is negative
# - TypeError if the payload, the key, an element of either or the offset has the wrong class
# - RangeError if an Integer that stands for a byte is not in 0..255, or the offset is 2**64 or more
#
# +WsUnmask::VERSION+ is the version of the gem and of its Rust core (semantic versioning).
#
# @example The masked "Hello" of RFC 6455, section 5.7
#   frame = ["818537fa213d7f9f4d5158"].pack("H*")
#   WsUnmask.unmask(frame.byteslice(6, 5), frame.byteslice(2, 4)) # => "Hello"
#
# @example A payload in two pieces
#   key = "\x37\xfa\x21\x3d".b
#   WsUnmask.unmask("\x7f\x9f".b, key) + WsUnmask.unmask("\x4d\x51\x58".b, key, 2) # => "Hello"
module WsUnmask
  ##
  # :singleton-method: unmask
  # @!method self.unmask(payload, key, offset = 0)
  #   Unmasks into a new String.
  #   @param payload [String] the masked bytes; they are not changed
  #   @param key [String, Array<Integer>] the masking key
  #   @param offset [Integer] where in the frame's payload this piece begins, in bytes
  #   @return [String] the plain bytes, in ASCII-8BIT
  #   @raise [ArgumentError, TypeError, RangeError] see {WsUnmask}
  #   @raise [NoMemoryError] if there is not enough memory for the result

  ##
  # :singleton-method: unmask!
  # @!method self.unmask!(payload, key, offset = 0)
  #   Unmasks in place, without allocating. A String that shares its memory with another (a
  #   duplicate, a substring) gets its own memory first, so the other never changes.
  #   @param payload [String] the masked bytes, which become the plain ones
  #   @param key [String, Array<Integer>] the masking key
  #   @param offset [Integer] where in the frame's payload this piece begins, in bytes
  #   @return [String] +payload+ itself, in the encoding it had
  #   @raise [ArgumentError, TypeError, RangeError] see {WsUnmask}
  #   @raise [FrozenError] if +payload+ is frozen

  ##
  # :singleton-method: mask
  # @!method self.mask(payload, key, offset = 0)
  #   The same as {unmask}: XOR is its own inverse.
  #   @param payload [String] the plain bytes; they are not changed
  #   @param key [String, Array<Integer>] the masking key
  #   @param offset [Integer] where in the frame's payload this piece begins, in bytes
  #   @return [String] the masked bytes, in ASCII-8BIT
  #   @raise [ArgumentError, TypeError, RangeError] see {WsUnmask}

  ##
  # :singleton-method: mask!
  # @!method self.mask!(payload, key, offset = 0)
  #   The same as {unmask!}: XOR is its own inverse.
  #   @param payload [String] the plain bytes, which become the masked ones
  #   @param key [String, Array<Integer>] the masking key
  #   @param offset [Integer] where in the frame's payload this piece begins, in bytes
  #   @return [String] +payload+ itself, in the encoding it had
  #   @raise [ArgumentError, TypeError, RangeError] see {WsUnmask}
  #   @raise [FrozenError] if +payload+ is frozen

  ##
  # :singleton-method: unmask_bytes
  # @!method self.unmask_bytes(bytes, key, offset = 0)
  #   Unmasks an Array of bytes.
  #   @param bytes [Array<Integer>] the masked bytes, each in 0..255; the Array is not changed
  #   @param key [String, Array<Integer>] the masking key
  #   @param offset [Integer] where in the frame's payload this piece begins, in bytes
  #   @return [Array<Integer>] the plain bytes
  #   @raise [ArgumentError, TypeError, RangeError] see {WsUnmask}

  ##
  # :singleton-method: simd_level
  # @!method self.simd_level
  #   The SIMD instructions in use: the widest that this CPU has.
  #   @return [Symbol] +:avx512+, +:avx2+, +:sse4_2+, +:sse2+, +:neon+, or +:fallback+ (none)

  # @return [Array<Symbol>] the integrations that are active, by the names of their files
  def self.installed
    PatchSet.all.select(&:installed?).map(&:name)
  end
end
