# frozen_string_literal: true

require_relative "support"

# Small messages in a row on one connection. Nagle's algorithm holds back the second of two small
# replies until the first is acknowledged, which a peer with nothing to send delays by 40 ms.
class Latency
  include Support

  TITLE = "latency: two small messages, then both answers, again and again"

  def initialize(seed:, short:)
    @rounds = short ? 200 : 1000
    @random = Random.new(seed)
  end

  def run
    SERVERS.each do |rackup, title|
      Server.run(rackup) do |port|
        times = round_trips(port, @rounds)
        say format("%-62s median %.2f ms, 99th percentile %.2f ms", title, percentile(times, 50),
                   percentile(times, 99))
        check("the 99th percentile is well under 40 ms", percentile(times, 99) < 20)
      end
    end
    without_nodelay
  end

  private

  def without_nodelay
    Server.run("stress/without_nodelay.ru") do |port|
      times = round_trips(port, 50)
      say format("%-62s median %.2f ms, 99th percentile %.2f ms",
                 "examples/echo.ru without TCP_NODELAY", percentile(times, 50),
                 percentile(times, 99))
    end
  end

  # In milliseconds.
  def round_trips(port, rounds)
    Client.open(port) do |client|
      Array.new(rounds) do
        text = @random.bytes(20)
        1000 * seconds do
          2.times { client.send(:binary, text) }
          2.times { check("the answer is the message", client.receive.payload == text) }
        end
      end
    end
  end
end
