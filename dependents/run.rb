# frozen_string_literal: true

require_relative "suite"

# The libraries' own tests, with ws_unmask's drop-in and without, compared example by example. Exits
# with 1 if one differs.
#
#   ruby dependents/run.rb FOLDER
#
# FOLDER contains their repositories or sources. Other gems in it are loaded from there.
class Dependents
  # Examples with threads and sockets may be flaky, so those whose results differ run again.
  TRIES = 3
  PASSED = ["passed", "."].freeze
  private_constant :TRIES, :PASSED

  def initialize(folder)
    @folder = File.expand_path(folder)
    @compared = 0
    @versions = 0
    @differing = []
    @left_out = []
  end

  # @return [Boolean] whether none differs
  def run
    $stdout.sync = true
    Suite::ALL.each do |suite|
      if Dir.exist?("#{@folder}/#{suite.name}")
        suite.versions(@folder).each { |version| compare(suite, version) }
      else
        leave_out("#{suite.name}: it is not in #{@folder}")
      end
    end
    summary
  end

  private

  def leave_out(what)
    puts "skipped: #{what}"
    @left_out << what
  end

  # The folders that are not suites: gems that the tests need.
  def libraries
    @libraries ||= Dir["#{@folder}/*/lib"].reject do |path|
      Suite::ALL.any? { |suite| path == "#{@folder}/#{suite.name}/lib" }
    end
  end

  def compare(suite, version)
    title = [suite.name, version].compact.join(" ")
    copy = suite.check_out(@folder, version)
    without, with = run_both(suite, copy)
    return leave_out("#{title} does not run here: #{reason(without)}") if passed(without).zero?
    return leave_out("#{title}: no drop-in: #{reason(with)}") unless installed?(with)

    differing = differences(without, with)
    (TRIES - 1).times do
      break if differing.empty?

      differing &= differences(*run_both(suite, copy))
    end
    report(title, without, with, differing)
  end

  def run_both(suite, copy)
    [false, true].map { |with_ours| suite.run(copy, libraries, with_ours:) }
  end

  def passed(run) = run.results.values.count { |status| PASSED.include?(status) }

  def installed?(run) = run.said.match?(/^ws_unmask: \[:\w+\]/)

  def differences(without, with)
    (without.results.keys | with.results.keys).reject do |example|
      without.results[example] == with.results[example]
    end
  end

  def report(title, without, with, differing)
    @versions += 1
    @compared += without.results.size
    puts "#{title}: #{without.results.size} examples, #{passed(without)} pass, " \
         "#{differing.size} differ"
    differing.each do |example|
      line = "#{title}: #{example}: #{without.results[example] || "not run"} without ws_unmask, " \
             "#{with.results[example] || "not run"} with it"
      puts "  #{line}"
      @differing << line
    end
  end

  def reason(run)
    run.said.scrub.lines.grep(/Error|cannot|fail|no end/).first.to_s.strip[0, 200]
  end

  def summary
    puts "", *@left_out.map { |what| "skipped: #{what}" }
    puts "#{@compared} examples of #{@versions} versions, #{@differing.size} differ"
    @differing.empty? && @compared.positive?
  end
end

exit Dependents.new(ARGV.fetch(0)).run
