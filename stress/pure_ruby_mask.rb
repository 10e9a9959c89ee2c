# frozen_string_literal: true

# What an app has where websocket-driver's C extension cannot be compiled: its loop in Ruby.
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
