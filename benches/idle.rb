# frozen_string_literal: true

# What an idle connection costs a server: 10,000 are opened, each is used once, and the growth of
# the server's resident memory is divided by them.
require "socket"
require_relative "../examples/client"
require_relative "../examples/server"

CONNECTIONS = 10_000
SERVERS = {
  "event loop (nio4r), Connection" => "examples/echo_nio4r.rb",
  "event loop (nio4r), websocket-driver" => "benches/echo_servers/ruby/driver_echo.rb",
  "fibers (async), Connection" => "examples/echo_async.rb",
  "fibers, async-websocket" => "benches/echo_servers/ruby/async_websocket_echo.rb"
}.freeze

def memory(pid) = File.read("/proc/#{pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i

def open_and_echo(port, message)
  Client.new(port).tap do |client|
    client.write(message)
    raise "no echo" unless client.receive&.payload == "Hello"
  end
end

# KiB for each connection.
def measure(port, pid)
  message = Client.frame(:text, "Hello")
  # Warm up: code that the first connections load stays loaded.
  100.times { open_and_echo(port, message).disconnect }
  before = memory(pid)
  clients = Array.new(CONNECTIONS) { open_and_echo(port, message) }
  (memory(pid) - before).fdiv(CONNECTIONS)
ensure
  clients&.each(&:disconnect)
end

# A file descriptor for each connection, here and in the server.
limit = Process.getrlimit(:NOFILE).last
abort "raise the limit of open files: ulimit -n #{CONNECTIONS + 200}" if limit < CONNECTIONS + 200
Process.setrlimit(:NOFILE, limit)

puts "#{RUBY_DESCRIPTION}: memory of the server for each of #{CONNECTIONS} idle connections", ""
SERVERS.each do |name, file|
  started = false
  Server.run(file, env: { "WS_UNMASK_DISABLE" => "1" }) do |port, pid|
    started = true
    puts format("%-40s %6.1f KiB", name, measure(port, pid))
  end
rescue RuntimeError
  raise if started

  puts "skipped: #{name} (not installed)"
end
