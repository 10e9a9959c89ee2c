# frozen_string_literal: true

require "etc"
require "rbconfig"
require_relative "../examples/client"
require_relative "../examples/server"

# Shared by the scenarios: figures of processes, and output.
module Support
  ROOT = File.expand_path("..", __dir__)

  # The servers that the scenarios run against, and what unmasks in them.
  SERVERS = { "examples/faye_echo.ru" => "Puma, faye-websocket, websocket-driver with ws_unmask",
              "examples/echo.ru" => "Puma, WsUnmask::Connection",
              "examples/echo_nio4r.rb" => "nio4r, WsUnmask::Connection" }.freeze

  def say(text) = puts("    #{text}")

  def check(what, right)
    raise "failed: #{what}" unless right
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def seconds
    start = now
    yield
    now - start
  end

  # Resident memory in MiB: now, or the maximum so far.
  def memory(pid = Process.pid, most: false)
    File.read("/proc/#{pid}/status")[/#{most ? "VmHWM" : "VmRSS"}:\s+(\d+)/, 1].to_i / 1024.0
  end

  def percentile(values, percent)
    values.sort[(values.size - 1) * percent / 100]
  end

  # Runs Ruby in a separate process; returns its output and status.
  def in_child(*arguments)
    command = [RbConfig.ruby, "-W0", *arguments.map(&:to_s)]
    output = IO.popen({ "RUBYLIB" => "#{ROOT}/lib" }, command, err: %i[child out], &:read)
    [output, Process.last_status]
  end

  # Runs all of them at once, and raises the first error.
  def in_threads(count)
    Array.new(count) do |number|
      Thread.new { yield number }.tap { |thread| thread.report_on_exception = false }
    end.each(&:join)
  end
end
