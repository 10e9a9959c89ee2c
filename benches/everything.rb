# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "ws_unmask"

# Runs the benchmarks one after the other and puts what they print into docs/benchmarks/README.md,
# next to the charts.
class Everything
  FOLDER = "docs/benchmarks"
  LADDER = "tmp/ladder.json"
  COMPETITORS = "benches/competitors"
  RUBY = [RbConfig.ruby, "-Ilib"].freeze
  CARGO_BENCH = %w[cargo bench --quiet --locked].freeze
  # The groups of `cargo bench` that the charts show.
  CHARTED = "^(paths at 6|competitors at 0 to 15)/"

  PARTS = {
    "The ladder" => {
      command: [*RUBY, "benches/ladder.rb", LADDER],
      text: "The article on Midori moved a frame decoder step by step from Ruby to C: array mask " \
            "1.16x, string mask 1.45x, whole decode 2.47x. Here are its steps, next to the loops " \
            "of undici and lua-resty-websocket, restated in Ruby.\n\n" \
            "![Time of one frame or mask of 125 bytes](ladder.svg)"
    },
    "Libraries, alone and with their drop-in" => { command: [*RUBY, "benches/drop_in.rb"] },
    "Decoder and Frame" => { command: [*RUBY, "benches/ruby_decoder.rb"] },
    "Compressed messages" => { command: [*RUBY, "benches/deflate.rb"] },
    "A call from Ruby" => { command: [*RUBY, "benches/ruby_calls.rb"] },
    "The core" => {
      first: [[*CARGO_BENCH, "--bench", "unmask", "--", CHARTED],
              [*CARGO_BENCH, "--", CHARTED, { chdir: COMPETITORS }]],
      command: ["cargo", "run", "--quiet", "--locked", "--release", "--", File.expand_path(FOLDER),
                File.expand_path(LADDER), { chdir: COMPETITORS }],
      markdown: true,
      text: "![Throughput of each path over the payload's size](core_paths.svg)\n\n" \
            "![Throughput of ws_unmask and its competitors over the payload's size]" \
            "(core_competitors.svg)"
    }
  }.freeze

  def run
    FileUtils.mkdir_p([FOLDER, File.dirname(LADDER)])
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    parts = PARTS.each_with_index.map do |(title, part), i|
      puts "#{i + 1} of #{PARTS.size}: #{title}"
      "## #{title}\n\n#{part[:text]}\n\n#{output_of(part)}"
    end
    File.write("#{FOLDER}/README.md", [head, *parts].join("\n").gsub(/\n{3,}/, "\n\n"))
    puts format("%s/README.md is written (%.0f s)", FOLDER,
                Process.clock_gettime(Process::CLOCK_MONOTONIC) - start)
  end

  private

  def head
    <<~MARKDOWN
      # Benchmarks

      Written by `rake bench`. Ratios are of medians within one run; the machine is shared, so times
      of different runs are not comparable. Measure yours with the same command.

      | | |
      | --- | --- |
      | CPU | #{cpu}, #{`nproc`.chomp} cores, SIMD level #{WsUnmask.simd_level} |
      | Ruby | #{RUBY_DESCRIPTION} |
      | Rust | #{`rustc --version`.chomp} |
      | ws_unmask | #{WsUnmask::VERSION} |

    MARKDOWN
  end

  def cpu
    return RUBY_PLATFORM unless File.exist?("/proc/cpuinfo")

    File.read("/proc/cpuinfo")[/^model name\s*: (.+)/, 1] || RUBY_PLATFORM
  end

  def output_of(part)
    part[:first]&.each { |command| shown_while_it_runs(command) }
    printed = shown_while_it_runs(part[:command])
    part[:markdown] ? printed : "```\n#{printed.strip}\n```\n"
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
Everything.new.run
