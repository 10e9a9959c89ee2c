# frozen_string_literal: true

# Runs the tests in the current folder with sus, and writes the result of each, as JSON.
#
#   ruby run_sus.rb FILE
require "json"
require "sus"
require "sus/config"

file = ARGV.shift
registry = Sus::Config.load.registry
results = {}
registry.each do |test|
  assertions = Sus::Assertions.new(output: Sus::Output::Null.new)
  begin
    test.call(assertions)
    results[test.identity.to_s] = assertions.passed? ? "passed" : "failed"
  rescue StandardError => e
    results[test.identity.to_s] = e.class.name
  end
end
File.write(file, results.to_json)
