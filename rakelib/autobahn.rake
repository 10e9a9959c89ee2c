# frozen_string_literal: true

require_relative "autobahn_testsuite"

desc "Run Autobahn|Testsuite on an example; TOOLS is a folder with setup, run and run-client"
task :autobahn, %i[tools cases example] => :compile do |_, arguments|
  tools = arguments.fetch(:tools) { abort "usage: rake 'autobahn[TOOLS,CASES,EXAMPLE]'" }
  cases = arguments.fetch(:cases, "")
  suite = AutobahnTestsuite.new(tools, arguments.fetch(:example, "echo.ru"))
  suite.run(cases == "all" ? ["*"] : cases.split)
end
