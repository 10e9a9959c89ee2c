# frozen_string_literal: true

# Masking as RFC 6455, section 5.3 has it, with what Ruby has for bytes: what specs, examples and
# benchmarks compare with. Nothing in it is ws_unmask's.
module Xor
  def self.mask(payload, key, offset = 0)
    key = key.bytes.rotate(offset % 4)
    payload.bytes.each_with_index.map { |byte, i| byte ^ key[i % 4] }.pack("C*")
  end
end
