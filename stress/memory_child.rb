# frozen_string_literal: true

# Prints the number of decoded messages, and after each tenth of them the number of bytes in use.
# Run in a separate process that has done nothing else.
#
#   ruby memory_child.rb decoder|connection|driver MESSAGES SEED
require "ws_unmask"
require_relative "../examples/client"
require_relative "live_bytes"

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

REQUEST = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" \
          "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"

seen = 0
case kind
when "driver"
  require "ws_unmask/websocket_driver"
  require_relative "../benches/support/driver"
  driver = Connection.open_driver
  driver.on(:message) { seen += 1 }
  feed = ->(chunk) { driver.parse(chunk) }
when "connection"
  connection = WsUnmask::Connection.server(deflate: true)
  connection.receive(REQUEST)
  feed = lambda do |chunk|
    connection.receive(chunk) do |type, payload|
      seen += 1
      connection.public_send(type, payload)
    end
    connection.flush(&:bytesize)
  end
else
  decoder = WsUnmask::Decoder.new
  feed = ->(chunk) { decoder.feed(chunk) { seen += 1 } }
end

live = Array.new(10) do
  (Integer(messages) / frames.size / 10).times { chunks.each(&feed) }
  LiveBytes.count
end
puts [seen, *live].join(" ")
