# frozen_string_literal: true

# A double of the midori gem, which cannot be installed here: as much of Midori::WebSocket as the
# integration meets, with its methods, instance variables and exceptions.
module Midori
  module Exception
    ContinuousFrame = Class.new(StandardError)
    OpCodeError = Class.new(StandardError)
    NotMasked = Class.new(StandardError)
    FrameEnd = Class.new(StandardError)
  end

  class WebSocket
    attr_accessor :msg, :opcode

    def decode(data)
      first = data.getbyte
      @opcode = first & 0x0f
      raise Exception::ContinuousFrame if first & 0x80 == 0
      raise Exception::OpCodeError unless [1, 2, 8, 9, 10].include?(@opcode)
      return close if @opcode == 8

      second = data.getbyte
      raise Exception::NotMasked if second & 0x80 == 0

      key = Array.new(4) { data.getbyte }
      masked = Array.new(second & 0x7f) { data.getbyte }
      @msg = @opcode == 2 ? mask(masked, key) : mask_str(masked, key)
      nil
    end

    def close = raise(Exception::FrameEnd)

    protected

    def mask(payload, mask) = payload.each_with_index.map { |byte, i| byte ^ mask[i % 4] }

    def mask_str(payload, mask) = mask(payload, mask).pack("C*").force_encoding("UTF-8")
  end
end
