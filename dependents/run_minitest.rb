# frozen_string_literal: true

# Runs the tests of the current folder with Minitest, and writes what each has come to, as JSON.
# Files whose libraries are not here are left out.
#
#   ruby run_minitest.rb FILE
begin
  gem "minitest", "< 6"
rescue LoadError
  nil # there is another one
end
require "json"
require "minitest"

# Keeps what each test has come to.
class Results < Minitest::AbstractReporter
  def initialize(file)
    super()
    @file = file
    @results = {}
  end

  def record(result)
    @results["#{result.klass}##{result.name}"] = result.result_code
  end

  def report
    File.write(@file, @results.to_json)
  end
end

results = Results.new(File.expand_path(ARGV.shift))
Minitest.extensions << "results"
Minitest.define_singleton_method(:plugin_results_init) { |_| reporter << results }
Dir[File.expand_path("test/**/*_test.rb")].each do |file|
  require file
rescue LoadError => e
  warn "#{File.basename(file)}: #{e.message}"
end
ARGV.replace(%w[--seed 1])
