# frozen_string_literal: true

require "etc"
require "rbconfig"
require "socket"
require "timeout"

# Runs an example in a separate process, on a free local port: a Rack app under Puma, or a program
# that takes the port as its argument.
module Server
  ROOT = File.expand_path("..", __dir__)
  # Below the range for outgoing connections, which could take the port before the server does.
  PORTS = (10_000...32_768)
  STOP_SECONDS = 20
  private_constant :ROOT, :PORTS, :STOP_SECONDS

  # Yields the port and the process ID, and stops the server afterwards.
  def self.run(example, *puma_arguments, env: {}, &block)
    run_command(->(port) { command(example, port, puma_arguments) }, env:, &block)
  end

  # @param command [Proc] which takes the port
  def self.run_command(command, env: {})
    port = free_port
    reader, writer = IO.pipe
    pid = spawn(env, *command.call(port), out: writer, err: writer, chdir: ROOT)
    writer.close
    log = Thread.new { reader.read }
    wait_for(port, pid, log)
    yield port, pid
  rescue Errno::ECONNRESET, Errno::EPIPE => e
    raise unless Process.wait(pid, Process::WNOHANG)

    raise "the server has ended (#{e.message}):\n#{log.value}"
  ensure
    stop(pid) if pid
  end

  # The command that starts it.
  # @return [Array<String>]
  def self.command(example, port, puma_arguments = [])
    ruby = [RbConfig.ruby, "-I#{ROOT}/lib"]
    file = File.join(ROOT, example)
    return [*ruby, file, port.to_s] if example.end_with?(".rb")

    [*ruby, "-S", "puma", "--quiet", *puma_arguments, "-b", "tcp://127.0.0.1:#{port}", file]
  end

  def self.free_port
    port = Random.new.rand(PORTS)
    TCPServer.new("127.0.0.1", port).close
    port
  rescue Errno::EADDRINUSE
    retry
  end

  # Returns when the process accepts connections on the port.
  # @param log [Thread] ends with the process; its value is the output
  def self.wait_for(port, pid, log = Thread.new { "no output" })
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    begin
      TCPSocket.new("127.0.0.1", port).close
    rescue Errno::ECONNREFUSED
      raise "the server did not start:\n#{log.value}" if Process.wait(pid, Process::WNOHANG)
      raise "the server did not answer within 30 s" if
        Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.05
      retry
    end
  end

  # User and system time of a process, in seconds (Linux only).
  def self.cpu_seconds(pid)
    ticks = File.read("/proc/#{pid}/stat").split(") ").last.split.values_at(11, 12).sum(&:to_i)
    ticks.to_f / Etc.sysconf(Etc::SC_CLK_TCK)
  end

  # Puma 8 sometimes does not end if it is told to right after its start.
  def self.stop(pid)
    Process.kill(:TERM, pid)
    Timeout.timeout(STOP_SECONDS) { Process.wait(pid) }
  rescue Timeout::Error
    Process.kill(:KILL, pid)
    Process.wait(pid)
    warn "process #{pid} did not end within #{STOP_SECONDS} s and was killed"
  rescue Errno::ESRCH, Errno::ECHILD
    nil # it had ended already
  end
end
