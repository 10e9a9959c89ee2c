# frozen_string_literal: true

require_relative "support"

# A million messages of mixed sizes through one decoder, one connection that echoes them, and
# websocket-driver with ws_unmask: it would show a leak of one byte per message.
class Memory
  include Support

  TITLE = "memory: a million messages of 0 bytes to 64 KiB"
  MESSAGES = 1_000_000

  def initialize(seed:, short:)
    @seed = seed
    @messages = short ? MESSAGES / 5 : MESSAGES
  end

  def run
    { "decoder" => "WsUnmask::Decoder", "connection" => "WsUnmask::Connection, compressing",
      "driver" => "websocket-driver with ws_unmask" }
      .each { |kind, title| measure(kind, title) }
  end

  private

  def measure(kind, title)
    output, status = in_child("#{__dir__}/memory_child.rb", kind, @messages, @seed)
    check("the messages went through: #{output}", status.success?)
    seen, *live = output.split.map(&:to_i)
    growth = percentile(live.last(3), 50) - percentile(live.first(3), 50)
    say format("%-36s %d messages: %.1f MiB in use after a tenth, %+.1f KiB from then on", title,
               seen, live.first / 1024.0 / 1024.0, growth / 1024.0)
    check("all messages came out", seen == @messages)
    check("memory does not grow", growth < @messages / 4)
  end
end
