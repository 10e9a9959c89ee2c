# frozen_string_literal: true

# What an echo costs a server: its CPU time for a message, from /proc, with 64 connections. Servers
# are taken in turn, for several rounds, and the least of the rounds counts.
#
#   rake bench:echo
require "socket"
require "tmpdir"
require_relative "../examples/client"
require_relative "../examples/server"

# A load generator: it keeps as many messages in flight on each connection, and checks every byte
# that comes back. It encodes nothing while it runs.
class Load
  CONNECTIONS = 64
  HANDSHAKE = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
  private_constant :CONNECTIONS, :HANDSHAKE

  # What has come back of those that are in flight.
  Peer = Struct.new(:socket, :received)
  private_constant :Peer

  # @param in_flight [Integer] messages on each connection
  # @param plain [Boolean] whether the server sends back the bytes as they are
  def initialize(port, size, in_flight, plain:)
    @in_flight = in_flight
    @request = Client.frame(:text, "Hello, 0123456789".ljust(size, "abc")) * in_flight
    @answer = plain ? @request : unmasked(@request.byteslice(0, @request.bytesize / in_flight))
    @peers = Array.new(CONNECTIONS) { Peer.new(connect(port), 0) }.to_h { [_1.socket, _1] }
    @buffer = String.new(capacity: 1 << 18)
  end

  # @return [Integer] how many messages have come back
  def run(seconds)
    deadline = clock + seconds
    count = 0
    @peers.each_key { |socket| socket.write(@request) }
    waiting = @peers.keys
    until waiting.empty?
      IO.select(waiting).first.each do |socket|
        next unless complete?(@peers[socket])

        count += @in_flight
        clock < deadline ? socket.write(@request) : waiting.delete(socket)
      end
    end
    count
  end

  def close
    @peers.each_key(&:close)
  end

  private

  def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def connect(port)
    socket = TCPSocket.new("127.0.0.1", port)
    socket.setsockopt(:TCP, :NODELAY, true)
    socket.write(HANDSHAKE)
    head = socket.gets("\r\n\r\n")
    raise "no handshake: #{head}" unless head&.include?(" 101 ")

    socket
  end

  def unmasked(frame)
    start = { 126 => 4, 127 => 10 }.fetch(frame.getbyte(1) & 0x7f, 2)
    header = frame.byteslice(0, start)
    header.setbyte(1, header.getbyte(1) & 0x7f)
    payload = Client.mask(frame.byteslice((start + 4)..), frame.byteslice(start, 4))
    (header + payload) * @in_flight
  end

  def complete?(peer)
    received = peer.socket.readpartial(1 << 18, @buffer)
    unless received == @answer.byteslice(peer.received, received.bytesize)
      raise "something else was echoed"
    end

    peer.received += received.bytesize
    return false if peer.received < @answer.bytesize

    peer.received = 0
    true
  end
end

SERVERS = {
  "event loop (nio4r), Decoder and Encoder alone" => "benches/support/bare_echo.rb",
  "event loop (nio4r), Connection" => "examples/echo_nio4r.rb",
  "Puma, plain read and write" => "benches/support/plain_echo.ru",
  "Puma, Connection" => "examples/echo.ru",
  "Puma, faye-websocket" => "benches/support/faye_echo.ru",
  "Puma, faye-websocket with ws_unmask" => "examples/faye_echo.ru"
}.freeze
POINTS = [[64, 1], [64, 16], [1024, 16], [16_384, 4]].freeze
ROUNDS = 3
SECONDS = 0.7
THREADS = %w[-t 5:5].freeze

def run_servers(names, ports = {}, &block)
  return block.call(ports) if names.empty?

  name, *others = names
  puma_arguments = SERVERS[name].end_with?(".ru") ? THREADS : []
  Server.run(SERVERS[name], *puma_arguments) do |port, pid|
    run_servers(others, ports.merge(name => [port, pid]), &block)
  end
end

# CPU microseconds of the server for a message, and messages a second.
def measure(port, pid, size, in_flight, plain)
  load = Load.new(port, size, in_flight, plain:)
  load.run(0.2)
  cpu = Server.cpu_seconds(pid)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  count = load.run(SECONDS)
  elapsed = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  [(Server.cpu_seconds(pid) - cpu) * 1e6 / count, count / elapsed]
ensure
  load&.close
end

names = SERVERS.keys.grep(Regexp.new(ARGV.fetch(0, "")))
results = Hash.new { |hash, key| hash[key] = [] }
run_servers(names) do |ports|
  ROUNDS.times do
    POINTS.product(names).each do |point, name|
      results[[name, point]] << measure(*ports[name], *point, name.include?("plain"))
    end
  end
end

puts RUBY_DESCRIPTION, "server CPU in us for a message (and thousands of messages a second)", ""
puts "| | #{POINTS.map { |size, in_flight| "#{size} B, #{in_flight} in flight" }.join(" | ")} |"
puts "| --- |#{" --: |" * POINTS.size}"
names.each do |name|
  cells = POINTS.map do |point|
    measured = results[[name, point]]
    format("%.2f (%.0f)", measured.map(&:first).min, measured.map(&:last).max / 1000)
  end
  puts "| #{name} | #{cells.join(" | ")} |"
end
