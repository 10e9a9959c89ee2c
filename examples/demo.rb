# frozen_string_literal: true

# Run by bin/demo: shows a Rack app with and without ws_unmask, and a decoded frame. Exits with 1 if
# a check fails.

require "stringio"
require "ws_unmask/websocket_driver"
require "ws_unmask/cli"
require_relative "client"
require_relative "server"

# The demo, on one screen.
class Demo
  APP = "examples/faye_echo.ru"
  SIZES = [5, 125, 1 << 10, 16 << 10, 1 << 20].freeze
  # Message sizes in bytes, and how many messages of each are measured.
  MEASURED = { 125 => 4000, 2 << 10 => 1500, 64 << 10 => 150 }.freeze
  FRAME = "818537fa213d7f9f4d5158" # RFC 6455, section 5.7
  private_constant :APP, :SIZES, :MEASURED, :FRAME

  # @return [Boolean] whether all checks passed
  def run
    $stdout.sync = true
    driver = Gem.loaded_specs["websocket-driver"].version
    puts "", "ws_unmask #{WsUnmask::VERSION}, Ruby #{RUBY_VERSION}, " \
             "SIMD level #{WsUnmask.simd_level}",
         "", "1. A Rack app that echoes: Puma, faye-websocket, websocket-driver #{driver}"
    with = measure({}) { |client| echoes(client) }
    without = measure("WS_UNMASK_DISABLE" => "1")
    compare(without, with)
    decode
    next_steps
    !@wrong
  end

  private

  # @return [Array<Float>] server CPU time per message in seconds, by size
  def measure(env)
    Server.run(APP, env:) do |port, pid|
      Client.open(port) do |client|
        yield client if block_given?
        MEASURED.map { |size, count| cpu_time(client, "x" * size, count, pid) }
      end
    end
  end

  def echoes(client)
    %i[text binary].each do |type|
      right = SIZES.map do |size|
        echoed?(client, type, type == :text ? text(size) : Random.bytes(size))
      end
      @wrong ||= !right.all?
      puts format("     %-6s messages of %s %s", type, SIZES.map { |size| human(size) }.join(", "),
                  right.all? ? "come back intact" : "WRONG")
    end
  end

  def echoed?(client, type, payload)
    client.send(type, payload)
    reply = client.receive
    reply && reply.payload == payload.b && reply.opcode == (type == :text ? 1 : 2)
  end

  # Valid UTF-8 of that many bytes, not only ASCII.
  def text(size)
    ("grüß dich, " * ((size / 13) + 1)).byteslice(0, size).scrub(".")
  end

  def cpu_time(client, text, count, pid)
    frame = Client.frame(:text, text)
    [count / 10, count].map do |times|
      before = Server.cpu_seconds(pid)
      times.times do
        client.write(frame)
        client.receive
      end
      (Server.cpu_seconds(pid) - before) / times
    end.last
  end

  def compare(without, with)
    puts "", "2. CPU time of that server per message, one message at a time:",
         format("     %-10s %18s %18s", "", "without ws_unmask", "with ws_unmask")
    MEASURED.keys.zip(without, with) do |size, before, after|
      before, after = [before, after].map { |seconds| rounded(seconds * 1e6) }
      puts format("     %-10s %15d us %15d us   %.2g times as fast", human(size), before, after,
                  before / after)
    end
    puts "   This app only echoes. A Rails app gains less: see guides/speed_up_rails.md."
  end

  def decode
    puts "", "3. A frame, decoded:  echo #{FRAME} | ruby -Ilib exe/ws_unmask decode -"
    out = StringIO.new
    status = WsUnmask::CLI.new(out:, input: StringIO.new(FRAME)).run(%w[decode -])
    @wrong ||= status != WsUnmask::CLI::OK || !out.string.include?('"Hello"')
    puts out.string.gsub(/^/, "   ")
  end

  def next_steps
    puts "", "Next: guides/speed_up_rails.md, guides/write_a_server.md; all guides: docs/README.md",
         "      ruby -Ilib exe/ws_unmask doctor   what your libraries gain on this machine",
         "      bin/test                          lints and tests (lists what it installs first)",
         "", @wrong ? "A check failed: see WRONG above." : "All checks passed."
  end

  # To two digits, since the rest is noise.
  def rounded(number) = format("%.2g", number).to_f

  def human(bytes)
    case bytes
    when 0...1024 then "#{bytes} B"
    when 1024...(1 << 20) then "#{bytes >> 10} KiB"
    else "#{bytes >> 20} MiB"
    end
  end
end

exit Demo.new.run
