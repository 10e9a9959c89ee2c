# frozen_string_literal: true

require "stringio"
require "ws_unmask"
require_relative "../examples/client"
require_relative "support/driver"
require_relative "support/rounds"

# A decoder in idiomatic Ruby: getbyte, map, pack.
def decode_in_ruby(io)
  first = io.getbyte
  second = io.getbyte
  length = second & 0x7f
  length = io.read(2).unpack1("n") if length == 126
  length = io.read(8).unpack1("Q>") if length == 127
  key = Array.new(4) { io.getbyte }
  payload = Array.new(length) { io.getbyte }.map.with_index { |byte, i| byte ^ key[i % 4] }
  [first & 0x80 != 0, first & 0x0f, payload.pack("C*").force_encoding("UTF-8")]
end

def medians(calls, scope)
  Rounds.medians(calls.transform_values { |call| Rounds.loop_around(call, scope) })
end

def title(text)
  puts "", text
end

# -- the loops see the locals
def compare_with_the_driver
  title "one masked text per feed with a block; a copy is `chunk + \"\"`"
  puts format("%10s %12s %16s %12s %14s %12s", "bytes", "feed, ns", "driver, ns", "copy, ns",
              "driver/feed", "feed/copy")
  [5, 61, 125, 1000, 16 << 10, 1 << 20].each do |size|
    chunk = Client.frame(:text, "x" * size)
    decoder = WsUnmask::Decoder.new
    driver = Connection.open_driver
    empty = "".b
    ns = medians({ feed: "decoder.feed(chunk) { |type, payload| payload }",
                   driver: "driver.parse(chunk)", copy: "chunk + empty" }, binding)
    puts format("%10d %12.0f %16.0f %12.0f %13.1fx %11.2fx", size, ns[:feed], ns[:driver],
                ns[:copy], ns[:driver] / ns[:feed], ns[:feed] / ns[:copy])
  end
end

def texts_of_one_length(size)
  { ascii: "chat: hello, world! ", chinese: "chat: 你好世界 ", cyrillic: "привет, как дела? " }
    .transform_values do |unit|
      text = (unit * size).byteslice(0, size).scrub("")
      text + (" " * (size - text.bytesize))
    end
end

def texts_that_are_not_ascii
  title "one text that is half Chinese or half Cyrillic per feed with a block, against ASCII"
  [61, 125, 1024, 16 << 10].each do |size|
    texts = texts_of_one_length(size)
    ascii, chinese, cyrillic = texts.values.map { |text| Client.frame(:text, text) }
    decoder = WsUnmask::Decoder.new
    ns = medians({ ascii: "decoder.feed(ascii) { |type, payload| payload }",
                   chinese: "decoder.feed(chinese) { |type, payload| payload }",
                   cyrillic: "decoder.feed(cyrillic) { |type, payload| payload }" }, binding)
    puts format("%10d bytes: ASCII %.0f ns, Chinese %.0f (%.2fx), Cyrillic %.0f (%.2fx)", size,
                ns[:ascii], ns[:chinese], ns[:chinese] / ns[:ascii], ns[:cyrillic],
                ns[:cyrillic] / ns[:ascii])
  end
end

def many_in_one_feed
  title "4 KiB of small frames in one feed"
  [5, 61, 125].each do |size|
    frame = Client.frame(:text, "x" * size)
    count = 4096 / frame.bytesize
    chunk = frame * count
    decoder = WsUnmask::Decoder.new
    ns = medians({ block: "decoder.feed(chunk) { |type, payload| payload }",
                   array: "decoder.feed(chunk)" }, binding)
    puts format("%10d bytes: %.0f ns a message with a block, %.0f as an Array", size,
                ns[:block] / count, ns[:array] / count)
  end
end

def in_pieces
  title "a large message in pieces of 1,400 bytes, against the same in one piece"
  medians = [1, 16].map do |mebibytes|
    chunk = Client.frame(:binary, "x" * (mebibytes << 20))
    pieces = (0...chunk.bytesize).step(1400).map { |at| chunk.byteslice(at, 1400) }
    decoder = WsUnmask::Decoder.new
    ns = medians({ pieces: "pieces.each { |piece| decoder.feed(piece) { |type, text| text } }",
                   whole: "decoder.feed(chunk) { |type, payload| payload }" }, binding)
    puts format("%6d MiB: %.0f us in pieces, %.0f us in one, %.2fx", mebibytes, ns[:pieces] / 1e3,
                ns[:whole] / 1e3, ns[:pieces] / ns[:whole])
    ns[:pieces]
  end
  puts format("  16 MiB in pieces take %.1f times as long as 1 MiB", medians[1] / medians[0])
end

def frames
  title "Frame.read on the 11 bytes of RFC 6455 from a StringIO, against plain Ruby"
  bytes = ["818537fa213d7f9f4d5158"].pack("H*")
  io = StringIO.new(bytes)
  ns = medians({ ruby: "io.rewind; decode_in_ruby(io)", read: "io.rewind; WsUnmask::Frame.read(io)",
                 rewind: "io.rewind", decode: "WsUnmask::Frame.decode(bytes)" }, binding)
  ruby, read = ns.values_at(:ruby, :read).map { |time| time - ns[:rewind] }
  puts format("  plain Ruby %.0f ns, read %.0f ns (%.1fx), decode %.0f ns (%.1fx)", ruby,
              read, ruby / read, ns[:decode], ruby / ns[:decode])
end
puts "Ruby #{RUBY_VERSION}, #{WsUnmask.simd_level}, " \
     "websocket-driver #{Gem.loaded_specs["websocket-driver"]&.version}; medians"
compare_with_the_driver
texts_that_are_not_ascii
many_in_one_feed
in_pieces
frames
