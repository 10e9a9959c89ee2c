# frozen_string_literal: true

# The default script of `rake profile`: a server that receives typical messages through
# websocket-driver (chat and Action Cable commands, telephone audio in JSON, speech, documents), in
# reads as from a socket, and replies to every tenth.
require "json"
require "websocket/driver"
require_relative "../examples/client"
require_relative "support/driver"

random = Random.new(6455)
sizes = ([60..500] * 16) + ([350..450] * 8) + ([3200..4096] * 4) + [32_000..64_000]
frames = Array.new(400) do
  Client.frame(:text, { data: "x" * random.rand(sizes.sample(random:)) }.to_json)
end
reads = frames.join.then do |bytes|
  (0...bytes.bytesize).step(4096).map { |at| bytes.byteslice(at, 4096) }
end

driver = Connection.open_driver
seen = 0
driver.on(:message) do |event|
  seen += 1
  driver.text(event.data) if (seen % 10).zero?
end
Integer(ENV.fetch("ROUNDS", 500)).times { reads.each { |read| driver.parse(read.dup) } }
