# frozen_string_literal: true

# What an echo costs a server: its CPU time per message, from /proc, and messages per second. The
# servers take turns for several rounds, and the minimum of the rounds counts.
#
#   ruby benches/echo.rb [PATTERN]   only the servers whose names match
require "open3"
require_relative "echo_servers"
require_relative "support/chart"
require_relative "support/echo_traffic"
require_relative "../examples/server"

# Ours, and what they are compared with. Where YJIT is, Ruby is told to use it by RUBYOPT.
class Echo
  RUBY = "benches/echo_servers/ruby"
  IN_RUBY = {
    "event loop (nio4r), Connection" => ["examples/echo_nio4r.rb"],
    "event loop (nio4r), Decoder and Encoder alone" => ["#{RUBY}/bare_echo.rb"],
    "Puma, Connection" => ["examples/echo.ru"],
    "Puma, plain read and write" => ["#{RUBY}/plain_echo.ru", :plain],
    "fibers (async), Connection" => ["examples/echo_async.rb"],
    "fibers (async), plain read and write" => ["#{RUBY}/plain_async_echo.rb", :plain],
    "Puma, faye-websocket" => ["#{RUBY}/faye_echo.ru"],
    "Puma, faye-websocket with ws_unmask" => ["examples/faye_echo.ru"],
    "Puma, Action Cable" => ["#{RUBY}/cable_echo.ru", :cable, :disabled],
    "Puma, Action Cable with ws_unmask" => ["#{RUBY}/cable_echo.ru", :cable],
    "fibers, async-websocket" => ["#{RUBY}/async_websocket_echo.rb", :echo, :disabled],
    "fibers, async-websocket with ws_unmask" => ["#{RUBY}/async_websocket_echo.rb"]
  }.freeze
  THREADS = %w[-t 5:5].freeze
  ASCII = "Hello, 0123456789 abcdefghijklmnopqrstuvwxyz. "
  CHINESE = "Hello, 你好世界!"
  # Bytes, messages in flight on each connection, and text.
  POINTS = {
    "64 B, 1" => [64, 1], "64 B, 16" => [64, 16], "1 KiB, 1" => [1024, 1],
    "1 KiB, 16" => [1024, 16], "1 KiB half Chinese, 1" => [1024, 1, CHINESE],
    "1 KiB half Chinese, 16" => [1024, 16, CHINESE], "16 KiB, 1" => [16_384, 1],
    "16 KiB, 4" => [16_384, 4]
  }.freeze
  CHARTED = { "64 B, one in flight" => "64 B, 1", "1 KiB, 16 in flight" => "1 KiB, 16" }.freeze
  ROUNDS = 3
  SECONDS = 0.4
  private_constant :RUBY, :IN_RUBY, :THREADS, :ASCII, :CHINESE, :POINTS, :CHARTED, :ROUNDS,
                   :SECONDS

  # A server that runs.
  Running = Struct.new(:name, :kind, :port, :pid)
  private_constant :Running

  def initialize(pattern)
    @pattern = Regexp.new(pattern)
    @load_generator = EchoServers.load_generator
    @figures = Hash.new { |hash, key| hash[key] = [] }
  end

  def run
    run_servers([*in_ruby, *EchoServers.all].select { |server| @pattern.match?(server.name) }) do
      |servers|
      ROUNDS.times { POINTS.keys.product(servers).each { |point, server| measure(point, server) } }
      print_table(servers.map(&:name))
      save_chart(servers.map(&:name))
    end
  end

  private

  def in_ruby
    IN_RUBY.map do |name, (file, kind, disabled)|
      env = disabled ? ["env", "WS_UNMASK_DISABLE=1"] : []
      arguments = file.end_with?(".ru") ? THREADS : []
      command = ->(port) { [*env, *::Server.command(file, port, arguments)] }
      EchoServers::Server.new(name, command, kind)
    end
  end

  def run_servers(left, running = [], &block)
    first, *others = left
    return block.call(running) unless first

    start(first) { |server| run_servers(others, [*running, server].compact, &block) }
  end

  # Yields nil if it does not start.
  def start(server)
    has_started = false
    ::Server.run_command(server.command) do |port, pid|
      has_started = true
      yield Running.new(server.name, server.kind, port, pid)
    end
  rescue RuntimeError => e
    raise if has_started

    why = e.message[/(?<=: ).*Error\)$/] || e.message
    puts "skipped: #{server.name} (#{why})"
    yield nil
  end

  def measure(point, server)
    answered, seconds, cpu = load(server, *POINTS.fetch(point))
    messages = answered * POINTS.fetch(point)[1]
    @figures[[server.name, point]] << [cpu * 1e6 / messages, messages / seconds]
  rescue RuntimeError => e
    puts "skipped: #{server.name}, #{point}: #{e.message.strip[0, 200]}"
  end

  # @return [Array<Float>] how often all in flight was answered, seconds, and seconds of CPU time
  def load(server, size, in_flight, text = ASCII)
    text = (text * ((size / text.bytesize) + 1)).byteslice(0, size).scrub(".")
    connections = size > 4096 ? 16 : 64
    output, error, status = Open3.capture3(
      @load_generator, *[server.port, server.pid, connections, SECONDS].map(&:to_s),
      stdin_data: EchoTraffic.new(text, in_flight).for(server.kind), binmode: true
    )
    raise error unless status.success?

    output.split.map(&:to_f)
  end

  def print_table(names)
    puts "", "CPU time of the server for a message, in us (and thousands of messages a second), by",
         "size and messages in flight, with 64 connections (16 for 16 KiB). #{RUBY_DESCRIPTION}", ""
    puts "| | #{POINTS.keys.join(" | ")} |", "| --- |#{" --: |" * POINTS.size}"
    names.each do |name|
      cells = POINTS.keys.map do |point|
        cpu, messages = *@figures[[name, point]].transpose
        cpu ? format("%.2f (%.0f)", cpu.min, messages.max / 1000) : "-"
      end
      puts "| #{name} | #{cells.join(" | ")} |"
    end
  end

  def save_chart(names)
    names = names.grep_v(/plain|alone/)
    Chart.save("echo", kind: "bars", title: "Echo servers; #{ruby}",
                       scale: "CPU time of the server for a message, in us: less is better",
                       ours: names.grep(/Connection|ws_unmask/),
                       data: CHARTED.transform_values { |point| bars(names, point) })
  end

  def ruby
    has_yjit = defined?(RubyVM::YJIT.enabled?) && RubyVM::YJIT.enabled?
    "Ruby #{RUBY_VERSION}#{" with YJIT" if has_yjit}"
  end

  def bars(names, point)
    figures = names.to_h { |name| [name, @figures[[name, point]].map(&:first).min] }.compact
    figures.transform_values { |cpu| cpu.round(2) }.sort_by(&:last).to_h
  end
end

Echo.new(ARGV.fetch(0, "")).run
