# frozen_string_literal: true

require_relative "support"

# Many clients at once, each with messages of 100 random fragments, pings among them, written in
# random pieces: every reply has to be the message, byte for byte.
class Chaos
  include Support

  TITLE = "chaos: 32 clients, messages of 100 fragments, random writes"
  CLIENTS = 32

  def initialize(seed:, short:)
    @seed = seed
    @messages = short ? 2 : 10
  end

  def run
    SERVERS.each do |rackup, title|
      Server.run(rackup, "-t", "8:40") do |port|
        took = seconds do
          in_threads(CLIENTS) do |number|
            converse(port, Random.new(@seed + number))
          end
        end
        say format("%-62s %d messages as sent, %.1f s", title, CLIENTS * @messages, took)
      end
    end
  end

  private

  def converse(port, random)
    Client.open(port) do |client|
      @messages.times do |number|
        fragments = Array.new(100) { random.rand(4).zero? ? "" : random.bytes(random.rand(1281)) }
        write_in_pieces(client, frames(fragments, random), random)
        answer = client.receive
        answer = client.receive while answer&.opcode == 10
        check("the answer to message #{number}, seed #{@seed}", answer&.payload == fragments.join)
      end
    end
  end

  def frames(fragments, random)
    last = fragments.size - 1
    fragments.each_with_index.map do |fragment, i|
      ping = random.rand(10).zero? ? Client.frame(:ping, random.bytes(random.rand(126))) : ""
      ping + Client.frame(i.zero? ? :binary : :continuation, fragment, fin: i == last)
    end.join
  end

  def write_in_pieces(client, bytes, random)
    at = 0
    while at < bytes.bytesize
      size = [1, random.rand(1..14), random.rand(1..3000), random.rand(1..40_000)].sample(random:)
      client.write(bytes.byteslice(at, size))
      at += size
    end
  end
end
