# frozen_string_literal: true

# Prints how many messages came out, and the resident memory in MiB after the first 100,000 of
# them and at the end. In a process of its own, which has done nothing else.
#
#   ruby memory_child.rb decoder|driver MESSAGES SEED
require "ws_unmask"
require_relative "../examples/client"

kind, messages, seed = ARGV
random = Random.new(Integer(seed))

frames = Array.new(2000) do
  size = [random.rand(126), random.rand(126), random.rand(2000), random.rand(1 << random.rand(17))]
         .sample(random:)
  text = "ü".b * (size / 2)
  next Client.frame(:text, text) if random.rand(2).zero?
  next Client.frame(:binary, random.bytes(size)) if random.rand(2).zero?

  Client.frame(:text, text.byteslice(0, size / 3), fin: false) +
    Client.frame(:continuation, text.byteslice((size / 3)..))
end

chunks = frames.each_slice(3).flat_map do |some|
  bytes = some.join
  at = random.rand(bytes.bytesize)
  [bytes.byteslice(0, at), bytes.byteslice(at..)]
end

seen = 0
if kind == "driver"
  require "ws_unmask/websocket_driver"
  require_relative "../benches/support/driver"
  driver = Connection.open_driver
  driver.on(:message) { seen += 1 }
  feed = ->(chunk) { driver.parse(chunk) }
else
  decoder = WsUnmask::Decoder.new
  feed = ->(chunk) { decoder.feed(chunk) { seen += 1 } }
end

memory = lambda do
  GC.start
  File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024.0
end

rounds = Integer(messages) / frames.size
at_first = nil
rounds.times do |round|
  at_first = memory.call if round * frames.size == 100_000
  chunks.each(&feed)
end
puts [seen, at_first, memory.call].join(" ")
