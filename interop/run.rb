# frozen_string_literal: true

require_relative "checks"
require_relative "clients"
require_relative "servers"

# Real clients against real servers. Exits with 1 if a check failed.
#
#   ruby -Ilib interop/run.rb [--short]
class Interop
  def initialize(short:)
    @short = short
    @passed = 0
    @failed = []
    @left_out = []
  end

  # @return [Boolean] whether all was right
  def run
    $stdout.sync = true
    puts "setting up the clients in tmp/interop"
    @clients = Clients.set_up { |reason| leave_out("clients: #{reason}") }
    InteropServer::ALL.each do |server|
      next leave_out("#{server.name}: its library is not installed") unless server.available?

      puts server.name
      server.run { @clients.each { |client| run_client(client, server) } }
    end
    summary
  end

  private

  def leave_out(what)
    puts "skipped: #{what}"
    @left_out << what
  end

  def run_client(client, server)
    return unless client.takes?(server)

    print "  #{client.name}: "
    start = now
    results = results_of(client, server)
    passed = results.grep(/\Aok /).size
    failed = results.grep(/\Afail/)
    cannot = results.grep(/\Askip /).map { |line| line[/: (.*)/, 1] }.tally
    @passed += passed
    @failed.concat(failed.map { |line| "#{server.name}, #{client.name}: #{line}" })
    puts format("%d passed, %d failed, %.0f s%s", passed, failed.size, now - start,
                cannot.map { |reason, count| " (#{count}: #{reason})" }.join)
    failed.each { |line| puts "    #{line}" }
  end

  # @return [Array<String>] lines of the client
  def results_of(client, server)
    checks = client.checks(server, short: @short)
    results = []
    client.run(server.url, checks) do |line|
      line == "restart" ? server.restart : results << line
    end
    missing = checks.grep_v(/\Aset /).size - results.grep(/\A(ok|skip|fail) /).size
    missing.zero? ? results : results << "fail: #{missing} checks gave no result"
  rescue RuntimeError => e # what the server or Chromium has said
    results << "fail: #{e.message}"
  end

  def summary
    puts "", *@left_out.map { |what| "skipped: #{what}" }
    puts @failed
    count = (@passed + @failed.size).to_s.gsub(/(\d)(?=(\d{3})+\z)/, '\1,')
    puts "#{count} checks, #{@failed.size} failed"
    @failed.empty? && @passed.positive?
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

exit Interop.new(short: ARGV == ["--short"]).run
