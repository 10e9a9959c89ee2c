# frozen_string_literal: true

# websocket-driver's masking loop in Ruby, which it uses if its C extension does not compile.
if $PROGRAM_NAME.end_with?("puma")
  require "websocket/driver"

  def (WebSocket::Mask).mask(payload, mask)
    return payload if mask.nil? || payload.empty?

    bytes = payload.bytes
    key = mask.bytes
    bytes.each_index { |i| bytes[i] ^= key[i & 3] }
    bytes.pack("C*")
  end
end
