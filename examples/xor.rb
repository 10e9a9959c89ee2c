# frozen_string_literal: true

# Masking as in RFC 6455, section 5.3, in plain Ruby: the reference for specs, examples and
# benchmarks. It does not use ws_unmask.
module Xor
  def self.mask(payload, key, offset = 0)
    key = key.bytes.rotate(offset % 4)
    payload.bytes.each_with_index.map { |byte, i| byte ^ key[i % 4] }.pack("C*")
  end
end
