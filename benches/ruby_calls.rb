# frozen_string_literal: true

require "ws_unmask"
require "websocket/driver"
require_relative "support/rounds"

# Each candidate has its own loop around the call, so every figure includes the loop.
EMPTY = "".b
KEY = "\x37\xfa\x21\x3d".b
WAYS = {
  unmask!: "WsUnmask.unmask!(payload, KEY)",
  unmask: "WsUnmask.unmask(payload, KEY)",
  copy: "payload + EMPTY",
  driver: "WebSocket::Mask.mask(payload, KEY)",
  native: "payload.frozen?" # as empty as a native method gets: it looks at one bit
}.freeze
SIZES = [5, 24, 64, 125, 200, 500, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20].freeze

def ways(payload)
  WAYS.transform_values { |call| Rounds.loop_around(call, binding) }
end

puts "#{RUBY_DESCRIPTION}, #{WsUnmask.simd_level}; medians, ns a call, with the loop around it"
puts format("%8s %8s %8s %8s %15s %17s %12s %14s", "bytes", "native", "unmask!", "unmask",
            "payload + \"\"", "websocket-driver", "unmask/copy", "unmask/driver")
SIZES.each do |size|
  ns = Rounds.medians(ways(Random.bytes(size)))
  puts format("%8d %8.0f %8.0f %8.0f %15.0f %17.0f %12.2f %14.2f", size, ns[:native],
              ns[:unmask!], ns[:unmask], ns[:copy], ns[:driver], ns[:unmask] / ns[:copy],
              ns[:unmask] / ns[:driver])
end
