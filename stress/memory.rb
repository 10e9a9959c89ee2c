# frozen_string_literal: true

require_relative "support"

# A million messages of mixed sizes through one decoder, and through websocket-driver with the
# drop-in: a leak of ten bytes a message would show.
class Memory
  include Support

  TITLE = "memory: a million messages of 0 bytes to 64 KiB"
  MESSAGES = 1_000_000

  def initialize(seed:, short:)
    @seed = seed
    @messages = short ? MESSAGES / 4 : MESSAGES
  end

  def run
    { "decoder" => "WsUnmask::Decoder", "driver" => "websocket-driver with the drop-in" }
      .each { |kind, title| measure(kind, title) }
  end

  private

  def measure(kind, title)
    output, status = in_child("#{__dir__}/memory_child.rb", kind, @messages, @seed)
    check("the messages went through: #{output}", status.success?)
    seen, first, last = output.split.map(&:to_f)
    say format("%-36s %d messages: %.1f MiB after the first 100,000, %.1f at the end", title, seen,
               first, last)
    check("all messages came out", seen == @messages)
    check("memory does not grow", last - first < [first * 0.05, 4].max)
  end
end
