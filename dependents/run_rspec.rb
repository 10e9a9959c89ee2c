# frozen_string_literal: true

# Runs the specs in the current folder with RSpec, and writes the result of each, as JSON.
#
#   ruby run_rspec.rb FILE
require "json"
require "rspec/core"

file = ARGV.shift
report = "#{file}.rspec" # which is there, but empty, as long as they run
status = RSpec::Core::Runner.run(%W[--seed 1 --format json --out #{report} spec])
report = JSON.parse(File.read(report))
results = report["examples"].to_h do |example|
  ["#{example["id"]} #{example["full_description"]}", example["status"]]
end
abort report["messages"].to_a.join("\n") if results.empty? && status != 0
puts report["examples"].filter_map { |example| example.dig("exception", "class") }.tally.inspect
File.write(file, results.to_json)
