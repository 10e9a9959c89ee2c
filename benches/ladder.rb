# frozen_string_literal: true

require "stringio"
require "websocket/driver"
require "ws_unmask"
require_relative "../examples/client"
require_relative "../examples/xor"
require_relative "support/chart"
require_relative "support/rounds"

# The steps of the article that ws_unmask grew from (a frame decoder moved step by step from Ruby to
# native code), and the loops of two other articles, restated in Ruby.
class Ladder
  SIZES = [61, 125, 4 << 10].freeze
  CHARTED = 125
  KEY = "\x37\xfa\x21\x3d".b

  # Ruby code that uses the locals of #scope; the first is the base.
  DECODING = {
    "plain Ruby, byte by byte" => "io.rewind; Steps.in_ruby(io)",
    "mask: WsUnmask.unmask_bytes" => "io.rewind; Steps.through_array(io)",
    "mask: WsUnmask.unmask!" => "io.rewind; Steps.through_string(io)",
    "all: WsUnmask::Frame.read" => "io.rewind; WsUnmask::Frame.read(io).payload",
    "all: WsUnmask::Decoder#feed" => "decoder.feed(frame)[0][1]"
  }.freeze

  MASKING = {
    "plain Ruby, an Array of bytes" => "Xor.mask(masked, KEY)",
    "undici: byte by byte, in place" => "Steps.undici_bytes(masked.dup, KEY)",
    "undici: four at a time, then a switch" => "Steps.undici_fours(masked.dup, KEY)",
    "lua-resty-websocket: table of characters" => "Steps.lua_table(masked, KEY)",
    "lua-resty-websocket: one buffer" => "Steps.lua_buffer(masked, KEY)",
    "websocket-driver's C extension" => "WebSocket::Mask.mask(masked, KEY)",
    "IO::Buffer#xor! (protocol-websocket)" => "Steps.io_buffer(masked, KEY)",
    "WsUnmask.unmask" => "WsUnmask.unmask(masked, KEY)",
    "WsUnmask.unmask!, in place" => "WsUnmask.unmask!(own, KEY)"
  }.freeze

  def run
    SIZES.each do |size|
      text = "x" * size
      decoders = measure("decoders", DECODING, text)
      masks = measure("masks", MASKING, text)
      next unless size == CHARTED

      chart("ladder_decoders", "A frame of #{size} bytes, decoded", decoders)
      chart("ladder_masks", "A payload of #{size} bytes, unmasked", masks)
    end
  end

  private

  def chart(name, title, figures)
    base = figures.values.first
    Chart.save(name, kind: "bars", title:,
                     scale: "Times as fast as plain Ruby: more is better",
                     log: true, unit: "x", ours: figures.keys.grep(/WsUnmask/),
                     data: { title => figures.transform_values { |ns| base / ns } })
  end

  # @return [Hash{String => Float}] nanoseconds of each way
  def measure(title, calls, text)
    frame = Client.frame(:text, text, key: KEY)
    calls = calls.reject { |_, call| call.include?("io_buffer") } unless Steps.io_buffer?
    scope = scope(frame, text)
    calls.each { |name, call| check(name, scope.eval(call), text) }
    ns = Rounds.medians(calls.transform_values { |call| Rounds.loop_around(call, scope) })
    rows = calls.to_h { |name, call| [name, [ns[name], allocations(call, scope)]] }
    print_rows("#{title}, #{text.bytesize} bytes of payload", rows)
    ns
  end

  # The last one works in place, so it masks again what it has unmasked.
  def check(name, result, text)
    raise "#{name}: not the payload" unless result.b == text.b || name.include?("in place")
  end

  def scope(frame, text)
    masked = frame.byteslice(-text.bytesize, text.bytesize)
    locals = { frame:, masked:, own: masked.dup, io: StringIO.new(frame),
               decoder: WsUnmask::Decoder.new }
    locals.each_with_object(binding) do |(name, value), scope|
      scope.local_variable_set(name, value)
    end
  end

  def allocations(call, scope)
    way = Rounds.loop_around(call, scope)
    way.call(1)
    before = GC.stat(:total_allocated_objects)
    way.call(100)
    (GC.stat(:total_allocated_objects) - before) / 100.0
  end

  def print_rows(title, rows)
    puts title
    base = rows.values.first.first
    rows.each do |name, (ns, objects)|
      puts format("  %-42s %10.0f ns %9.2fx %8.1f objects", name, ns, base / ns, objects)
    end
    puts
  end

  # The steps, in idiomatic Ruby.
  module Steps
    module_function

    def header(io)
      io.getbyte
      length = io.getbyte & 0x7f
      length = io.read(2).unpack1("n") if length == 126
      length
    end

    def in_ruby(io)
      length = header(io)
      key = Array.new(4) { io.getbyte }
      masked = Array.new(length) { io.getbyte }
      masked.each_with_index.map { |byte, i| byte ^ key[i % 4] }.pack("C*").force_encoding("UTF-8")
    end

    def through_array(io)
      length = header(io)
      key = Array.new(4) { io.getbyte }
      masked = Array.new(length) { io.getbyte }
      WsUnmask.unmask_bytes(masked, key).pack("C*").force_encoding("UTF-8")
    end

    def through_string(io)
      length = header(io)
      key = io.read(4)
      WsUnmask.unmask!(io.read(length), key).force_encoding("UTF-8")
    end

    def undici_bytes(bytes, key)
      i = 0
      while i < bytes.bytesize
        bytes.setbyte(i, bytes.getbyte(i) ^ key.getbyte(i % 4))
        i += 1
      end
      bytes
    end

    def undici_fours(bytes, key)
      a, b, c, d = key.bytes
      rest = bytes.bytesize & 3
      last = bytes.bytesize - rest
      i = 0
      while i < last
        bytes.setbyte(i, bytes.getbyte(i) ^ a)
        bytes.setbyte(i + 1, bytes.getbyte(i + 1) ^ b)
        bytes.setbyte(i + 2, bytes.getbyte(i + 2) ^ c)
        bytes.setbyte(i + 3, bytes.getbyte(i + 3) ^ d)
        i += 4
      end
      bytes.setbyte(last + 2, bytes.getbyte(last + 2) ^ c) if rest > 2
      bytes.setbyte(last + 1, bytes.getbyte(last + 1) ^ b) if rest > 1
      bytes.setbyte(last, bytes.getbyte(last) ^ a) if rest.positive?
      bytes
    end

    def lua_table(masked, key)
      characters = []
      i = 0
      while i < masked.bytesize
        characters << (masked.getbyte(i) ^ key.getbyte(i % 4)).chr
        i += 1
      end
      characters.join
    end

    def lua_buffer(masked, key)
      buffer = String.new(capacity: masked.bytesize)
      i = 0
      while i < masked.bytesize
        buffer << (masked.getbyte(i) ^ key.getbyte(i % 4))
        i += 1
      end
      buffer
    end

    def io_buffer? = defined?(IO::Buffer) && IO::Buffer.method_defined?(:xor!)

    def io_buffer(masked, key)
      result = masked.dup
      IO::Buffer.for(result) { |buffer| buffer.xor!(IO::Buffer.for(key)) }
      result
    end
  end
end

Ladder.new.run
