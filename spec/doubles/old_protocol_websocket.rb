# frozen_string_literal: true

# Doubles of protocol-websocket's Frame before 0.12, as much as packs and unpacks: nothing that can
# be installed here has it.
module OldProtocolWebSocket
  # Common to all versions.
  module Frame
    attr_reader :payload, :length, :mask

    def initialize(payload, mask)
      @payload = payload
      @mask = mask
    end

    private

    def store(data)
      @length = data.bytesize
      raise ArgumentError, "too long" if @length.bit_length > 63

      @payload = @mask ? xor(data, mask) : data
    end

    def xor(data, mask)
      result = String.new(encoding: Encoding::BINARY)
      data.bytesize.times { |i| result << (data.getbyte(i) ^ mask.getbyte(i % 4)) }
      result
    end
  end

  # pack returns the length; unpack never returns the payload itself if there is a mask.
  class Frame04
    include Frame

    def pack(data)
      store(data)
      @length
    end

    def unpack = @mask ? xor(@payload, @mask) : @payload
  end

  # pack returns the frame.
  class Frame09
    include Frame

    def pack(data)
      store(data)
      self
    end

    def unpack = @mask && !@payload.empty? ? xor(@payload, @mask) : @payload
  end

  # The payload may be left out.
  class Frame010
    include Frame

    def pack(data = "")
      store(data)
      self
    end

    def unpack = @mask && !@payload.empty? ? xor(@payload, @mask) : @payload
  end

  FRAMES = [Frame04, Frame09, Frame010].freeze
end
