# frozen_string_literal: true

require_relative "support"

# Two small replies, which a server writes one after the other. Nagle's algorithm holds back the
# second until the first is acknowledged, which a peer with nothing to send delays by 40 ms.
class Latency
  include Support

  TITLE = "latency: two small messages in two reads of the server, then both answers"
  # More than the servers read at once, and nothing that they answer.
  BETWEEN = Array.new(600) { Client.frame(:pong, "x" * 125) }.join.freeze
  private_constant :BETWEEN

  def initialize(seed:, short:)
    @rounds = short ? 100 : 1000
    @random = Random.new(seed)
  end

  # Nagle's algorithm would slow every round, another process that has the CPU only some.
  def run
    SERVERS.each do |rackup, title|
      check("rounds can be well under 40 ms", least(rackup, title, @rounds) < 20)
    end
    slow = least("stress/without_nodelay.ru", "examples/echo.ru without TCP_NODELAY", 20)
    check("without TCP_NODELAY, none is", slow > 35)
  end

  private

  # The 10th percentile in milliseconds.
  def least(rackup, title, rounds)
    times = Server.run(rackup) { |port| round_trips(port, rounds) }
    least, median, most = [10, 50, 99].map { |percent| percentile(times, percent) }
    say format("%-62s 10th percentile %.2f ms, median %.2f, 99th %.2f", title, least, median, most)
    least
  end

  def round_trips(port, rounds)
    Client.open(port) do |client|
      Array.new(rounds) do
        text = @random.bytes(20)
        message = Client.frame(:binary, text)
        client.delay_acknowledgement
        1000 * seconds do
          client.write(message + BETWEEN + message)
          2.times { check("the answer is the message", client.receive.payload == text) }
        end
      end
    end
  end
end
