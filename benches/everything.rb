# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "ws_unmask"
require_relative "support/chart"
require_relative "support/control"

# Runs the benchmarks one after the other and writes what they print, and their charts, to
# tmp/benchmarks. With --update that becomes docs/benchmarks, unless the machine was too noisy.
class Everything
  TRACKED = "docs/benchmarks"
  COMPETITORS = "benches/competitors"
  RUBY = [RbConfig.ruby, "-Ilib"].freeze
  CARGO_BENCH = %w[cargo bench --quiet --locked].freeze
  # The groups of `cargo bench` that the charts show.
  CHARTED = "^(paths at 6|competitors at 0 to 15|decoders chinese)/"

  # The command of each part, and its charts (NAME.svg) with their descriptions.
  PARTS = {
    "Echo servers" => {
      command: [*RUBY, "benches/echo.rb"], markdown: true,
      charts: { "echo" => "CPU time of echo servers for a message" }
    },
    "A Rails app" => {
      command: [*RUBY, "benches/action_cable.rb"], markdown: true,
      charts: { "action_cable" => "CPU time of a Rails app for a message" }
    },
    "The ladder" => {
      command: [*RUBY, "benches/ladder.rb"],
      text: "The article on Midori moved a frame decoder step by step from Ruby to C: array mask " \
            "1.16x, string mask 1.45x, whole decode 2.47x. Here are its steps, next to the loops " \
            "of undici and lua-resty-websocket, restated in Ruby.",
      charts: { "ladder_decoders" => "Decoders, by how many times as fast as plain Ruby they are",
                "ladder_masks" => "Masks, by how many times as fast as plain Ruby they are" }
    },
    "Libraries without ws_unmask and with it" => { command: [*RUBY, "benches/drop_in.rb"] },
    "Decoder and Frame" => { command: [*RUBY, "benches/ruby_decoder.rb"] },
    "Compressed messages" => { command: [*RUBY, "benches/deflate.rb"] },
    "A call from Ruby" => { command: [*RUBY, "benches/ruby_calls.rb"] },
    "The core" => {
      first: [[*CARGO_BENCH, "--bench", "unmask", "--", CHARTED],
              [*CARGO_BENCH, "--", CHARTED, { chdir: COMPETITORS }]],
      command: ["cargo", "run", "--quiet", "--locked", "--release", "--", Chart::FOLDER, "short",
                { chdir: COMPETITORS }],
      markdown: true,
      charts: { "core_paths" => "Throughput of each path over the payload's size",
                "core_competitors" =>
                  "Throughput of ws_unmask and its competitors over the payload's size",
                "core_decoders" => "Throughput of decoders over the payload's size" }
    }
  }.freeze

  # How often a benchmark is run at most, if the machine is noisy.
  TRIES = 3
  private_constant :TRIES

  # @param update [Boolean] whether docs/benchmarks is to be updated
  def initialize(update:)
    @update = update
    @control = Control.new
    @noise = 0.0
    @start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def run
    FileUtils.rm_rf(Chart::FOLDER)
    FileUtils.mkdir_p(Chart::FOLDER)
    parts = PARTS.each_with_index.map do |(title, part), i|
      puts "[#{elapsed}] #{i + 1} of #{PARTS.size}: #{title}"
      output = measured(part)
      ["## #{title}", part[:text], *charts_of(part), output].compact.join("\n\n")
    end
    File.write("#{Chart::FOLDER}/README.md", "#{[head.strip, *parts].join("\n\n")}\n")
    puts "[#{elapsed}] wrote #{Chart::FOLDER}/README.md"
    update if @update
  end

  private

  # Tracked figures are measured again, or not updated, if the machine was noisy.
  def measured(part)
    TRIES.times do
      output, noise = @control.around { output_of(part) }
      if noise <= Control::LIMIT || !@update
        @noise = [@noise, noise].max
        return output
      end
      puts format("[%s] too noisy: the same work took times that differ by %.0f%% (limit: %d%%)",
                  elapsed, noise, Control::LIMIT)
    end
    abort "#{TRACKED} is not updated: this machine is too noisy now. `rake bench` measures " \
          "nevertheless."
  end

  def update
    FileUtils.cp(Dir["#{Chart::FOLDER}/*"], TRACKED)
    puts "#{TRACKED} is updated"
  end

  def head
    <<~MARKDOWN
      # Benchmarks

      Written by `rake bench:update`. Ratios are of medians within one run; times of different runs
      are not comparable. `rake bench` measures your machine and writes to `tmp/benchmarks`.

      | | |
      | --- | --- |
      | CPU | #{cpu}, #{`nproc`.chomp} cores, SIMD level #{WsUnmask.simd_level} |
      | Ruby | #{RUBY_DESCRIPTION} |
      | Rust | #{`rustc --version`.chomp} |
      | ws_unmask | #{WsUnmask::VERSION} |
      | Noise | #{format("%.0f%%", @noise)}: by how much the same work differed, timed before and after each benchmark |
    MARKDOWN
  end

  def cpu
    return RUBY_PLATFORM unless File.exist?("/proc/cpuinfo")

    File.read("/proc/cpuinfo")[/^model name\s*: (.+)/, 1] || RUBY_PLATFORM
  end

  def elapsed
    seconds = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - @start).round
    format("%d:%02d", *seconds.divmod(60))
  end

  # A benchmark whose library is not installed draws no chart.
  def charts_of(part)
    Chart.draw_all(Chart::FOLDER)
    part.fetch(:charts, {}).filter_map do |name, text|
      "![#{text}](#{name}.svg)" if File.exist?("#{Chart::FOLDER}/#{name}.svg")
    end
  end

  def output_of(part)
    part[:first]&.each { |command| shown_while_it_runs(command) }
    printed = shown_while_it_runs(part[:command])
    part[:markdown] ? printed.strip : "```\n#{printed.strip}\n```"
  end

  def shown_while_it_runs(command)
    output = +""
    Open3.popen2e(*command) do |_, printed, process|
      printed.each_line do |line|
        $stdout.print "  ", line
        output << line
      end
      raise "#{command.join(" ")} failed" unless process.value.success?
    end
    output
  end
end

$stdout.sync = true
Everything.new(update: ARGV.include?("--update")).run
