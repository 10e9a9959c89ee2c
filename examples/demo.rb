# frozen_string_literal: true

# What bin/demo shows, in three parts. Exits with 1 if anything was wrong.

require "net/http"
require "ws_unmask"
require "websocket/driver"
require_relative "client"
require_relative "server"
require_relative "xor"

SIZES = [5, 125, 1 << 10, 16 << 10, 1 << 20].freeze

def part(number, title)
  puts "", "(#{number}) #{title}"
end

def check(what, right)
  puts format("    %-42<what>s %<result>s", what:, result: right ? "right" : "WRONG")
  @wrong = true unless right
end

def human(bytes)
  case bytes
  when 0...1024 then "#{bytes} B"
  when 1024...(1 << 20) then "#{bytes >> 10} KiB"
  else "#{bytes >> 20} MiB"
  end
end

def decode_the_example_of_the_rfc
  part 1, "the masked frame of RFC 6455, section 5.7"
  frame = ["818537fa213d7f9f4d5158"].pack("H*")
  payload = WsUnmask.unmask(frame.byteslice(6..), frame.byteslice(2, 4))
  check "81 85 37 fa 21 3d 7f 9f 4d 51 58 => #{payload.inspect}", payload == "Hello"
end

def echo_through_a_rack_app
  part 2, "a Rack app: Puma, faye-websocket, and ws_unmask in place of its mask"
  Server.run("examples/faye_echo.ru") do |port|
    puts "    the server says: #{Net::HTTP.get(URI("http://127.0.0.1:#{port}/"))}"
    Client.open(port) do |client|
      SIZES.each do |size|
        check_echo(client, :text, text(size))
        check_echo(client, :binary, Random.bytes(size))
      end
    end
  end
end

# UTF-8 of that many bytes, not all of it ASCII.
def text(size)
  ("grüß dich, " * ((size / 13) + 1)).byteslice(0, size).scrub(".")
end

def check_echo(client, type, payload)
  client.send(type, payload)
  reply = client.receive
  right = reply && reply.payload == payload.b && reply.opcode == (type == :text ? 1 : 2)
  check "#{type} message of #{human(payload.bytesize)} echoed", right
end

def compare
  part 3, "time per call here and now (simd level: #{WsUnmask.simd_level}), medians of 7"
  key = Random.bytes(4)
  puts format("    %8s %14s %18s %14s %12s %12s", "", "pure Ruby", "websocket-driver", "ws_unmask",
              "x Ruby", "x driver")
  SIZES.each do |size|
    payload = Random.bytes(size)
    ways = [Xor.method(:mask), WebSocket::Mask.method(:mask), WsUnmask.method(:unmask)]
    @wrong = true unless ways.map { |way| way.call(payload, key) }.uniq.one?
    ruby, driver, ours = ways.map { |way| median_time(way, payload, key) }
    puts format("    %8s %11.2f us %15.2f us %11.2f us %11.1fx %11.1fx", human(size), ruby * 1e6,
                driver * 1e6, ours * 1e6, ruby / ours, driver / ours)
  end
end

def median_time(way, payload, key)
  calls = 1
  calls *= 2 while time(calls, way, payload, key) < 0.01
  GC.start
  Array.new(7) { time(calls, way, payload, key) / calls }.sort[3]
end

def time(calls, way, payload, key)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  calls.times { way.call(payload, key) }
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
end

decode_the_example_of_the_rfc
echo_through_a_rack_app
compare
puts "", @wrong ? "Something was WRONG: see above." : "All was right."
exit !@wrong
