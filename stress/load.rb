# frozen_string_literal: true

require_relative "support"

# The audio streams of an article on a speech recognition gateway: 400 connections, each with 3,200
# bytes (100 ms of sound) every 100 ms.
class Load
  include Support

  TITLE = "load: 400 connections, 3,200 bytes every 100 ms on each"
  CONNECTIONS = 400
  INTERVAL = 0.1
  DISABLED = { "WS_UNMASK_DISABLE" => "1" }.freeze
  PURE_RUBY = { "RUBYOPT" => "#{ENV.fetch("RUBYOPT", nil)} -r#{__dir__}/pure_ruby_mask" }.freeze
  WAYS = { "masks in pure Ruby" => DISABLED.merge(PURE_RUBY),
           "websocket-driver as installed" => DISABLED,
           "websocket-driver with ws_unmask" => {} }.freeze

  def initialize(seed:, short:)
    @seed = seed
    @seconds = short ? 3 : 20
  end

  def run
    say format("%-36s %14s %14s %14s", "for #{@seconds} s", "echoed right", "server's CPU s",
               "99th pct., ms")
    WAYS.each do |title, env|
      Server.run("examples/faye_echo.ru", "-t", "8:32", env:) do |port, pid|
        stream(title, port, pid)
      end
    end
  end

  private

  def stream(title, port, pid)
    streams = Array.new(CONNECTIONS) { |number| Stream.new(port, Random.new(@seed + number)) }
    before = Server.cpu_seconds(pid)
    in_threads(CONNECTIONS) { |number| streams[number].play(@seconds, INTERVAL) }
    sent = streams.sum(&:sent)
    right = streams.sum(&:right)
    say format("%-36s %13.2f%% %14.2f %14.1f", title, 100.0 * right / sent,
               Server.cpu_seconds(pid) - before, 1000 * percentile(streams.flat_map(&:delays), 99))
    check("all frames come back as they were sent", right == sent)
  ensure
    streams&.each(&:close)
  end

  # One connection. Its frame is encoded only once, so that clients cost little CPU.
  class Stream
    attr_reader :sent, :right, :delays

    def initialize(port, random)
      @client = Client.new(port)
      @payload = random.bytes(3200)
      @frame = Client.frame(:binary, @payload)
      @start = random.rand
      @sent = @right = 0
      @delays = []
    end

    def play(seconds, interval)
      next_time = clock + (@start * interval)
      (seconds / interval).to_i.times do
        sleep([next_time - clock, 0].max)
        next_time += interval
        echo
      end
    end

    def close = @client.disconnect

    private

    def echo
      sent_at = clock
      @sent += 1
      @client.write(@frame)
      @right += 1 if @client.receive.payload == @payload
      @delays << (clock - sent_at)
    end

    def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
