# frozen_string_literal: true

require "open3"
require "rake"
require "rbconfig"
require_relative "../examples/server"

# Autobahn|Testsuite, which knows what a WebSocket end has to do, against an example: a server, or a
# client (named as such).
class AutobahnTestsuite
  include Rake::DSL

  # What the suite runs without a list: all but compression.
  UNCOMPRESSED = %w[1.* 2.* 3.* 4.* 5.* 6.* 7.* 9.* 10.*].freeze

  # @param tools [String] a folder with `setup`, `run` and `run-client`
  # @param example [String] a file of examples/
  def initialize(tools, example)
    @tools = File.expand_path(tools)
    @suite = File.expand_path("tmp/autobahn")
    @example = "examples/#{example}"
  end

  # @param cases [Array<String>] patterns; none for all but compression
  def run(cases)
    cases = UNCOMPRESSED if cases.empty?
    sh File.join(@tools, "setup"), @suite
    with_example do |command, report|
      all_fine, failed = try(command, cases)
      # The suite gives a close one second, which a busy machine does not always keep. What is wrong
      # with the decoder is wrong the second time too.
      all_fine, = try(command, failed) unless all_fine || failed.empty?
      abort "Autobahn found something: see #{@suite}/#{report}/index.html" unless all_fine
    end
  end

  private

  # Yields what runs cases, and where the report is.
  def with_example
    if @example.end_with?("client.rb")
      client = [RbConfig.ruby, "-Ilib", @example]
      port = Server.free_port.to_s
      return yield(->(cases) { ["run-client", @suite, port, cases.join(","), *client] },
                   "client-report")
    end

    Server.run(@example) do |at|
      yield ->(cases) { ["run", @suite, "ws://127.0.0.1:#{at}/", *cases] }, "report"
    end
  end

  # @return [Array] whether all is fine, and the cases that are not
  def try(command, cases)
    tool, *arguments = command.call(cases)
    output, status = Open3.capture2e(File.join(@tools, tool), *arguments)
    puts output
    [status.success?, output.scan(/^([\d.]+): /).flatten]
  end
end
