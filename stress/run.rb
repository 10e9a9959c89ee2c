# frozen_string_literal: true

# Runs all scenarios, or those named: ruby stress/run.rb [--short] [NAME...]
require_relative "support"

NAMES = %w[chaos latency load bad_clients memory concurrency faults cluster].freeze

short = !ARGV.delete("--short").nil?
names = ARGV.empty? ? NAMES : ARGV
seed = Integer(ENV.fetch("SEED") { Random.new_seed % 1_000_000 })
puts "seed #{seed} (again with SEED=#{seed}), Ruby #{RUBY_VERSION}, " \
     "#{short ? "the short form" : "the long form"}"
$stdout.sync = true
names.each do |name|
  require_relative name
  scenario = Object.const_get(name.split("_").map(&:capitalize).join)
  puts "", scenario::TITLE
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  scenario.new(seed:, short:).run
  puts format("    (%.0f s)", Process.clock_gettime(Process::CLOCK_MONOTONIC) - start)
rescue StandardError => e
  abort "#{name} failed, seed #{seed}: #{e.full_message}"
end
puts "", "all passed"
