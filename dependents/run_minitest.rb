# frozen_string_literal: true

# Runs the tests in the current folder with Minitest, and writes the result of each, as JSON. Skips
# files whose libraries are not installed.
#
#   ruby run_minitest.rb FILE
require "json"
require "minitest"

# Keeps the result of each test, even if a plugin replaces Minitest's reporters.
module Results
  FILE = File.expand_path(ARGV.shift)
  ALL = {} # rubocop:disable Style/MutableConstant

  def record(result)
    ALL["#{result.klass}##{result.name}"] = result.result_code
    super
  end

  def report
    File.write(FILE, ALL.to_json)
    super
  end
end

Minitest::CompositeReporter.prepend(Results)
Dir[File.expand_path("test/**/*_test.rb")].each do |file|
  require file
rescue LoadError => e
  warn "#{File.basename(file)}: #{e.message}"
end
ARGV.replace(%w[--seed 1])
