# frozen_string_literal: true

require "fileutils"
require_relative "support"

# Internal faults: no memory, a listener that raises, a panic in Rust.
class Faults
  include Support

  TITLE = "faults inside: no memory for a result, a panic in Rust"

  NO_MEMORY = <<~RUBY
    payload = "\\x01".b * (256 << 20)
    key = "\\x01\\x01\\x01\\x01"
    frame = [0x82, 0xff, 256 << 20, key].pack("CCQ>a4") << payload
    shared = payload.dup
    used = File.read("/proc/self/status")[/VmSize:\\s+(\\d+)/, 1].to_i * 1024
    Process.setrlimit(Process::RLIMIT_AS, used + (64 << 20))
    decoder = WsUnmask::Decoder.new(max_message_size: nil)
    raised = { unmask: -> { WsUnmask.unmask(payload, key) }, unmask!: -> { WsUnmask.unmask!(shared, key) },
               feed: -> { decoder.feed(frame) }, decode: -> { WsUnmask::Frame.decode(frame, max_frame_size: nil) },
               encode: -> { WsUnmask::Frame.encode(:binary, payload, mask: key) } }.select do |_, call|
      call.call
      false
    rescue NoMemoryError
      true
    end
    whole = payload.count("\\x01") == payload.bytesize && shared.count("\\x01") == shared.bytesize
    after = WsUnmask.unmask("\\x7f\\x9f", "7\\xfa!=".b) == "He" && WsUnmask::Decoder.new.feed("").empty?
    puts [raised.keys.join(","), whole, after].join(" ")
  RUBY

  PANIC = <<~RUBY
    at_exit { puts "ensured" }
    begin
      WsUnmask.panic!
    rescue Exception => e
      puts "rescued " + e.class.name
    end
  RUBY

  # The same in the short form; nothing in it is random.
  def initialize(**)
    super()
  end

  def run
    no_memory
    panic
  end

  private

  def no_memory
    output, status = in_child("-rws_unmask", "-e", NO_MEMORY)
    expected = "unmask,unmask!,feed,decode,encode true true"
    check("NoMemoryError, and all as before: #{output}",
          status.success? && output.strip == expected)
    say "no memory: NoMemoryError from #{expected.split.first}; payloads untouched, all goes on"
  end

  # With a separate build, since only that has WsUnmask.panic!.
  def panic
    system("cargo", "build", "--quiet", "--locked", "--package", "ws_unmask",
           "--features", "panic_for_tests", "--target-dir", "target/panic",
           exception: true, chdir: ROOT)
    lib = "#{ROOT}/tmp/panic/lib"
    FileUtils.rm_rf(lib)
    FileUtils.mkdir_p(lib)
    FileUtils.cp_r(Dir["#{ROOT}/lib/*"], lib)
    FileUtils.cp("#{ROOT}/target/panic/debug/libws_unmask.so", "#{lib}/ws_unmask/ws_unmask.so")
    output, = in_child("-I#{lib}", "-rws_unmask", "-e", PANIC)
    check("a panic is an exception: #{output}",
          output.include?("ensured") && output.include?("for the test (fatal)"))
    say "a panic in Rust: an exception of class fatal, which runs at_exit, then ends Ruby"
  end
end
