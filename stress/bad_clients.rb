# frozen_string_literal: true

require_relative "support"

# Clients that violate the protocol, or send as little as possible, while others are served.
class BadClients
  include Support

  TITLE = "bad clients: the others go on, memory stays bounded, each gets its close code"
  IDLE = 1000
  CASES = %i[claims_exbibytes empty_fragments pings_only leaves_in_the_middle broken_utf8].freeze

  def initialize(seed:, short:)
    @random = Random.new(seed)
    @fragments = short ? 300_000 : 10_000_000
    @idle = short ? 200 : IDLE
  end

  # The large frame is encoded beforehand, since masking it in Ruby blocks all threads for a while.
  def run
    @broken_utf8 = Client.frame(:text, "#{"x" * ((16 << 20) - 1)}\xff".b)
    SERVERS.each { |rackup, title| play(rackup, title) }
  end

  private

  def play(rackup, title)
    Server.run(rackup, "-t", "8:#{@idle + 50}") do |port, pid|
      before = memory(pid)
      idle = Array.new(@idle) { Client.new(port).tap { |client| client.write("\x82\xfe\x01") } }
      worst = while_others_echo(port) { CASES.each { |name| send(name, port) } }
      most = memory(pid, most: true)
      say title
      say format("  %d half headers, %d empty fragments: memory %.0f MiB before, %.0f at most; " \
                 "the others' slowest echo took %.0f ms",
                 @idle, @fragments, before, most, worst * 1000)
      check("memory stays bounded", most - before < 300)
      idle.each(&:disconnect)
    end
  end

  # The slowest round trip of a good client during that time, in seconds.
  def while_others_echo(port)
    done = false
    good = Thread.new do
      Client.open(port) do |client|
        times = []
        until done
          times << seconds { client.send(:text, "still here") && client.receive }
          sleep 0.005
        end
        times.max
      end
    end
    good.report_on_exception = false
    yield
    done = true
    good.value
  end

  def claims_exbibytes(port)
    closed_with(port, 1009) { |client| client.write([0x82, 0xff, 1 << 62, "key!"].pack("CCQ>a4")) }
  end

  # Then the message ends, and gets its reply.
  def empty_fragments(port)
    Client.open(port) do |client|
      client.send(:binary, "a", fin: false)
      many = Client.frame(:continuation, "", fin: false) * 10_000
      (@fragments / 10_000).times { client.write(many) }
      client.send(:continuation, "b")
      check("the answer to empty fragments is right", client.receive.payload == "ab")
    end
  end

  def pings_only(port)
    Client.open(port) do |client|
      pings = Client.frame(:ping, "p" * 125) * 100
      20.times do
        client.write(pings)
        100.times { check("a ping gets its pong", client.receive.opcode == 10) }
      end
    end
  end

  def leaves_in_the_middle(port)
    bytes = Client.frame(:binary, @random.bytes(100_000))
    20.times do
      Client.open(port) do |client|
        client.write(bytes.byteslice(0, @random.rand(90_000)))
      end
    end
  end

  def broken_utf8(port)
    closed_with(port, 1007) { |client| client.write(@broken_utf8) }
  end

  def closed_with(port, code)
    Client.open(port) do |client|
      yield client
      frame = client.receive
      check("close code #{code}", frame&.opcode == 8 && frame.payload.unpack1("n") == code)
    end
  end
end
