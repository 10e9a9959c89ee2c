# frozen_string_literal: true

require "open3"
require_relative "echo_servers"
require_relative "support/echo_traffic"
require_relative "../examples/server"

# Where the CPU time of examples/echo_nio4r.rb goes, with 64 connections and one message of 64 bytes
# in flight on each: a flame graph. It needs Linux and its perf, perl, and a script that comes with
# stackprof.
#
#   ruby benches/echo_flame.rb [SVG]
class EchoFlame
  SVG = "docs/benchmarks/echo_flame.svg"
  DATA = File.expand_path("../tmp/echo_flame.data", __dir__)
  TRAFFIC = EchoTraffic.new("Hello, 0123456789 abcdefghijklmnopqrstuvwxyz. Hello, 0123456789!", 1)
  DRAWER = "vendor/FlameGraph/flamegraph.pl"
  CONNECTIONS = 64
  LOAD_SECONDS = 6
  PERF = %w[perf record --quiet --freq 997 --call-graph dwarf,4096].freeze
  private_constant :SVG, :DATA, :TRAFFIC, :DRAWER, :CONNECTIONS, :LOAD_SECONDS, :PERF

  def initialize(svg = SVG)
    @svg = svg
    @drawer = Gem.path.flat_map { |path| Dir["#{path}/gems/stackprof-*/#{DRAWER}"] }.first ||
              abort("the flame graph needs the gem stackprof, which is not installed")
    @load_generator = EchoServers.load_generator
  end

  def run
    Server.run("examples/echo_nio4r.rb") { |port, pid| record(port, pid) }
    stacks = run!("perf", "script", "--no-inline", "-i", DATA, "-F", "ip,sym,dso")
             .split("\n\n").map { |stack| collapsed(stack) }.reject(&:empty?).tally
    draw(stacks)
    print_shares(stacks)
  end

  private

  # Records the second half of the load: the first warms it up.
  def record(port, pid)
    load = Thread.new do
      arguments = [port, pid, CONNECTIONS, LOAD_SECONDS].map(&:to_s)
      run!(@load_generator, *arguments, stdin_data: TRAFFIC.for(nil))
    end
    sleep LOAD_SECONDS / 2.0
    run!(*PERF, "-o", DATA, "-p", pid.to_s, "--", "sleep", (LOAD_SECONDS / 3.0).to_s)
    load.join
  end

  # From the outermost function to the innermost: a line of perf is an address, a name, and a file.
  # Below what YJIT has compiled nothing is known. The kernel is one frame.
  def collapsed(stack)
    frames = stack.lines.reverse.filter_map do |line|
      _, name, file = *line.match(/\A\s*\h+ (.+) \((.*)\)$/)
      next unless name
      next "Ruby, compiled by YJIT" if file.match?(/JIT|perf-\d+\.map/)

      file.include?("kernel") ? "kernel" : name.sub("[unknown]", File.basename(file))
    end
    frames.slice_when { |outer, inner| outer != inner }.map(&:first).join(";")
  end

  def draw(stacks)
    lines = stacks.map { |stack, count| "#{stack} #{count}\n" }.join
    title = "examples/echo_nio4r.rb: CPU time with 64 B, Ruby #{RUBY_VERSION}"
    File.write(@svg, run!("perl", @drawer, "--title", title, "--minwidth", "0.5",
                          "--countname", "samples", stdin_data: lines))
    puts "#{@svg} is written"
  end

  # The functions that take the most themselves.
  def print_shares(stacks)
    all = stacks.values.sum
    own = stacks.each_with_object(Hash.new(0)) do |(stack, count), shares|
      shares[stack[/[^;]+\z/]] += count
    end
    own.max_by(12, &:last).each do |name, count|
      puts format("%5.1f%%  %s", 100.0 * count / all, name)
    end
  end

  def run!(*command, **options)
    output, error, status = Open3.capture3(*command, **options, binmode: true)
    return output if status.success?

    abort "#{command.first(2).join(" ")} failed: #{error}"
  rescue Errno::ENOENT
    abort "the flame graph needs #{command.first}, which is not installed"
  end
end

EchoFlame.new(*ARGV).run
