# frozen_string_literal: true

require_relative "support"
require "ws_unmask"

# Threads, fibers and Ractors.
class Concurrency
  include Support

  TITLE = "threads, fibers and Ractors"

  RACTORS = <<~RUBY
    def work(count) = Array.new(count) { |i| Ractor.new(i) do |number|
      payload = ("%08d" % number).b * (1 << 20)
      40.times { WsUnmask.unmask!(payload, "key!") }
      WsUnmask.unmask("x", "key!") && payload.byteslice(0, 8)
    end }.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
    work(2)
    clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
    times = Array.new(5) { start = clock.(); work(4) == 4.times.map { |i| "%08d" % i } or abort "wrong"; clock.() - start }
    one = Array.new(5) { start = clock.(); work(1); clock.() - start }
    puts [one.min, times.min].join(" ")
  RUBY

  def initialize(seed:, short:)
    @random = Random.new(seed)
    @rounds = short ? 50 : 300
  end

  def run
    decoders_in_threads
    one_decoder_in_many_threads
    decoders_in_fibers
    ractors
    long_payloads
  end

  private

  def texts = Array.new(50) { "grüß " * @random.rand(0..500) }

  def bytes_of(texts) = texts.map { |text| Client.frame(:text, text.b) }.join

  def decoders_in_threads
    in_threads(8) do
      decoder = WsUnmask::Decoder.new
      texts = self.texts
      bytes = bytes_of(texts)
      @rounds.times do
        got = []
        (0...bytes.bytesize).step(1000) do |at|
          decoder.feed(bytes.byteslice(at, 1000)) { |_, text| got << text }
          Thread.pass
        end
        check("every thread's decoder gives its own messages", got == texts)
      end
    end
    say "8 threads, each with its decoder: every message right"
  end

  # The decoder may refuse it, but its output is right and nothing crashes.
  def one_decoder_in_many_threads
    decoder = WsUnmask::Decoder.new
    frame = Client.frame(:text, "Hello")
    refused = Queue.new
    in_threads(8) do
      (@rounds * 20).times do
        decoder.feed(frame * 3) { |_, text| Thread.pass && check("right text", text == "Hello") }
      rescue RuntimeError => e
        raise unless e.message.include?("being fed already")

        refused << e
      end
    end
    say "8 threads with one decoder: every message right, #{refused.size} calls refused"
  end

  def decoders_in_fibers
    decoder = WsUnmask::Decoder.new
    fiber = Fiber.new { decoder.feed(Client.frame(:text, "Hello") * 2) { |_, t| Fiber.yield(t) } }
    first = fiber.resume
    refused = begin
      decoder.feed("")
    rescue RuntimeError => e
      e
    end
    check("a decoder whose block waits refuses more", refused.is_a?(RuntimeError))
    check("and goes on afterwards", [first, fiber.resume] == %w[Hello Hello])
    say "a fiber that waits in a decoder's block: others are refused, then it goes on"
  end

  def ractors
    output, status = in_child("-rws_unmask", "-e", RACTORS)
    check("Ractors work: #{output}", status.success?)
    one, four = output.split.map(&:to_f)
    say format("4 Ractors: %.2f times the work of one a second (%d cores)", 4 * one / four,
               Etc.nprocessors)
  end

  # The longest time that another thread cannot run.
  def long_payloads
    payload = "x".b * (64 << 20)
    none = "".b
    stalls = { "unmask" => -> { WsUnmask.unmask(payload, "key!") }, "copy" => lambda {
                                                                                payload + none
                                                                              } }
             .transform_values { |work| percentile(Array.new(7) { longest_gap(&work) }, 50) }
    say format("64 MiB: other threads wait %.1f ms for unmask, %.1f ms for a copy of the String",
               1000 * stalls["unmask"], 1000 * stalls["copy"])
    check("unmask stalls no longer than a copy, by far", stalls["unmask"] < 2 * stalls["copy"])
  end

  def longest_gap
    GC.start
    done = false
    gaps = Thread.new do
      last = now
      longest = 0
      until done
        sleep 0.0002
        longest = [longest, now - last].max
        last = now
      end
      longest
    end
    sleep 0.005
    yield
    done = true
    gaps.value
  end
end
