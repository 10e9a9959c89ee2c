# frozen_string_literal: true

require "zlib"

module WsUnmask
  # Options for compression with Zlib, as libraries pass them.
  # @api private
  module ZlibOptions
    # Zlib's default level.
    DEFAULT_LEVEL = 6
    private_constant :DEFAULT_LEVEL

    # All other options are left to Zlib, including invalid ones.
    # @return [Boolean] whether {Native::Deflater} has them
    def self.native?(level, memory_level, strategy)
      memory_level == Zlib::DEF_MEM_LEVEL && strategy == Zlib::DEFAULT_STRATEGY &&
        level.is_a?(Integer) && level.between?(Zlib::DEFAULT_COMPRESSION, 9)
    end

    # @param level [Integer] of Zlib
    # @return [Integer] the same for {Native::Deflater}
    def self.level(level) = level == Zlib::DEFAULT_COMPRESSION ? DEFAULT_LEVEL : level
  end
  private_constant :ZlibOptions
end
