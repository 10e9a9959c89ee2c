# frozen_string_literal: true

# Uses each part of an installed gem once, without needing anything else.
#
#   ruby smoke.rb FILE      writes the Ruby and the CPU to FILE, for `rake tested`
require "ws_unmask"
require "json"

deflate = WsUnmask::Deflate.new.accept("permessage-deflate")
text = "Hello, \u{1f600}! " * 1000
stream = WsUnmask::Encoder.new(mask: true, deflate:).encode(:text, text)
read = WsUnmask::Decoder.new(deflate:).feed(stream)
raise "decoded: #{read.inspect[0, 80]}" unless read == [[:text, text]]

hello = WsUnmask.unmask("\x7f\x9f\x4d\x51\x58".b, "\x37\xfa\x21\x3d".b)
raise "unmasked: #{hello}" unless hello == "Hello"

begin
  WsUnmask::Decoder.new.feed("\x81\x05Hello".b)
  raise "an unmasked frame was accepted"
rescue WsUnmask::ProtocolError
  nil # as it should be
end

folder = $LOADED_FEATURES.grep(%r{/ws_unmask\.(?:so|bundle)\z}).first
precompiled = folder.include?("/ws_unmask/#{RUBY_VERSION[/\d+\.\d+/]}/")
raise "not a precompiled gem: #{folder}" unless precompiled || ENV.key?("SOURCE_GEM")

cpu = RUBY_PLATFORM[/\A[^-]+/]
puts "ws_unmask #{WsUnmask::VERSION} works: #{RUBY_DESCRIPTION}, #{WsUnmask.simd_level}"
File.write(ARGV[0], { smoke: true, ruby: RUBY_VERSION, cpu: }.to_json) if ARGV[0]
