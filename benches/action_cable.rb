# frozen_string_literal: true

# What a Rails app gains: CPU time of examples/action_cable per echoed message, with and without
# ws_unmask in turn; the minimum of the rounds counts.
require_relative "../examples/server"
require_relative "../spec/support/cable_client"
require_relative "support/chart"

# Bytes, and how many messages: /proc counts CPU time in steps of 10 ms.
SIZES = { 20 => 6000, 2000 => 4000, 64_000 => 600 }.freeze
ROUNDS = 3
WAYS = { "without ws_unmask" => { "WS_UNMASK_DISABLE" => "1" }, "with ws_unmask" => {} }.freeze
PRODUCTION = { "RAILS_ENV" => "production", "RACK_ENV" => "production" }.freeze

def echo(client, text, times)
  times.times do |number|
    client.send({ number:, text: })
    raise "the echo differs from the message" unless
      client.receive == { "number" => number, "text" => text }
  end
end

# @return [Array<Float>] microseconds a message, by size
def measure(env)
  env = PRODUCTION.merge(env)
  Server.run("examples/action_cable/config.ru", "-t", "5:5", env:) do |port, pid|
    CableClient.open(port, "EchoChannel") do |client|
      SIZES.map do |size, times|
        text = "x" * size
        echo(client, text, times / 10)
        before = Server.cpu_seconds(pid)
        echo(client, text, times)
        (Server.cpu_seconds(pid) - before) * 1e6 / times
      end
    end
  end
end

rounds = Array.new(ROUNDS) { WAYS.transform_values { |env| measure(env) } }
best = WAYS.to_h { |name, _| [name, rounds.map { |round| round[name] }.transpose.map(&:min)] }
versions = { "railties" => "Rails", "websocket-driver" => "websocket-driver" }.map do |gem, name|
  "#{name} #{Gem::Specification.find_by_name(gem).version}"
end
puts "#{RUBY_DESCRIPTION}, #{versions.join(", ")}", "",
     "| message | #{best.keys.join(" | ")} | times as fast |", "| --: | --: | --: | --: |"
SIZES.keys.zip(*best.values) do |size, without, with|
  puts format("| %d B | %.0f us | %.0f us | %.2f |", size, without, with, without / with)
end
percent = SIZES.keys.zip(*best.values).to_h do |size, without, with|
  ["#{size} B", { "without ws_unmask" => 100, "with ws_unmask" => with * 100 / without }]
end
Chart.save("action_cable", kind: "bars", title: "Action Cable on Puma: #{versions.join(", ")}",
                           scale: "CPU time of the server for a message that it echoes, " \
                                  "in percent: less is better",
                           ours: ["with ws_unmask"], data: percent)
