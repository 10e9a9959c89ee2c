# frozen_string_literal: true

desc "Autobahn|Testsuite against examples/echo.ru; TOOLS is a folder with its `setup` and `run`"
task :autobahn, [:tools] => :compile do |_, arguments|
  require_relative "../examples/server"

  tools = File.expand_path(arguments.fetch(:tools) { abort "usage: rake 'autobahn[TOOLS]'" })
  suite = File.expand_path("tmp/autobahn")
  sh File.join(tools, "setup"), suite
  Server.run("examples/echo.ru") do |port|
    sh File.join(tools, "run"), suite, "ws://127.0.0.1:#{port}/"
  end
end
