# frozen_string_literal: true

require_relative "support"

# Puma with two workers, restarted in mid-traffic: worker by worker (which Puma does only without
# preload_app!), and as a whole with the app loaded before the fork.
class Cluster
  include Support

  TITLE = "cluster: Puma with 2 workers, restarted in mid-traffic"
  WAYS = { "phased restart" => [:USR1, []], "preload_app!, hot restart" => [:USR2, ["--preload"]] }
         .freeze
  APPS = { "examples/faye_echo.ru" => "websocket-driver with ws_unmask",
           "examples/echo.ru" => "WsUnmask::Connection" }.freeze

  def initialize(seed:, short:)
    @seconds = short ? 3 : 6
    @random = Random.new(seed)
  end

  def run
    APPS.to_a.product(WAYS.to_a) do |(rackup, app), (way, (signal, arguments))|
      Server.run(rackup, "-w", "2", *arguments) do |port, pid|
        restart("#{app}, #{way}", port, pid, signal)
      end
    end
  end

  private

  def restart(title, port, pid, signal)
    wait_until("two workers are up") { workers(pid).size == 2 }
    before = workers(pid)
    stop_at = now + @seconds
    counts = Queue.new
    traffic = Thread.new { in_threads(8) { counts << converse_until(stop_at, port) } }
    sleep 0.5
    Process.kill(signal, pid)
    traffic.join
    wait_until("new workers are up") { workers(pid).size == 2 && !workers(pid).intersect?(before) }
    echoed, reconnected = Array.new(8) { counts.pop }.transpose.map(&:sum)
    say format("%-60s %d messages echoed right, %d times reconnected, %d old workers left", title,
               echoed, reconnected, (workers(pid) & before).size)
    check("connections were made again and went on", echoed.positive?)
  end

  def workers(pid)
    File.read("/proc/#{pid}/task/#{pid}/children").split
  end

  def wait_until(what)
    deadline = now + 20
    until yield
      check("#{what} within 20 s", now < deadline)
      sleep 0.05
    end
  end

  # A connection may end with its worker, but all replies have to be right.
  def converse_until(stop_at, port)
    echoed = opened = 0
    while now < stop_at
      begin
        Client.open(port) do |client|
          opened += 1
          echoed += 1 while now < stop_at && echo(client)
        end
      rescue SystemCallError, IOError, RuntimeError => e
        raise if e.message.start_with?("not so")

        sleep 0.02
      end
    end
    [echoed, opened - 1]
  end

  def echo(client)
    payload = Random.bytes(500)
    client.send(:binary, payload)
    answer = client.receive
    return false if answer.nil? || answer.opcode == 8

    check("the answer is the message", answer.payload == payload)
    true
  end
end
