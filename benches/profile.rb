# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "stackprof"

# Runs a script twice under stackprof, without an integration and with it. Shows both flat profiles
# side by side, and writes a flame graph of each.
#
#   ruby benches/profile.rb [SCRIPT [INTEGRATION]]
class Profile
  FOLDER = "tmp/profile"
  ROWS = 22

  def initialize(script = "benches/receive_loop.rb", integration = "ws_unmask/websocket_driver")
    abort "#{script}: no such file" unless File.exist?(script)
    @script = script
    @integration = integration
  end

  def run
    FileUtils.mkdir_p(FOLDER)
    before, after = { "before" => { "WS_UNMASK_DISABLE" => "1" }, "after" => {} }
                    .map { |name, env| profile(name, env) }
    compare(before, after)
    puts "", "flame graphs: #{FOLDER}/before.svg, #{FOLDER}/after.svg"
  end

  private

  def profile(name, env)
    puts "#{@script}, #{name == "before" ? "without" : "with"} #{@integration} ..."
    dump = "#{FOLDER}/#{name}.dump"
    system({ "PROFILE" => dump, **env }, RbConfig.ruby, "-Ilib", "-r#{@integration}",
           "-r#{__dir__}/support/profiled", @script, exception: true)
    draw(dump, name)
    Marshal.load(File.binread(dump))
  end

  # With the two scripts that come with stackprof.
  def draw(dump, name)
    stackprof = Gem.bin_path("stackprof", "stackprof")
    flamegraph = File.join(Gem.loaded_specs["stackprof"].full_gem_path,
                           "vendor/FlameGraph/flamegraph.pl")
    stacks = piped("", RbConfig.ruby, stackprof, "--stackcollapse", dump)
    title = "#{@script}, #{name} ws_unmask"
    File.write("#{FOLDER}/#{name}.svg", piped(stacks, "perl", flamegraph, "--title", title))
  end

  def piped(input, *command)
    output, status = Open3.capture2(*command, stdin_data: input)
    abort "#{command.join(" ")} failed" unless status.success?
    output
  end

  def compare(before, after)
    frames = [before, after].map { |data| self_times(data) }
    names = frames.flat_map(&:keys).uniq.max_by(ROWS) { |name| frames.sum { |times| times[name] } }
    puts "", format("%-52s %16s %16s", "CPU time of the method itself", "before, ms", "after, ms")
    names.each { |name| row(name, *frames.map { |times| [times[name], times.values.sum] }) }
    row("all", *frames.map { |times| [times.values.sum, times.values.sum] })
  end

  def row(name, before, after)
    puts format("%-52s %9.1f (%3d%%) %9.1f (%3d%%)", name[0, 52],
                *[before, after].flat_map { |ms, all| [ms, 100 * ms / all] })
  end

  # Milliseconds by the names of methods.
  def self_times(data)
    milliseconds = data[:interval] / 1000.0
    times = Hash.new(0.0)
    data[:frames].each_value { |frame| times[frame[:name]] += frame[:samples] * milliseconds }
    times
  end
end

Profile.new(*ARGV).run
