# frozen_string_literal: true

# websocket-driver's loop in Ruby, for where its C extension cannot be compiled.
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
