# frozen_string_literal: true

require "json"
require "stringio"

module WsUnmask
  class CLI
    # +ws_unmask doctor+: what ws_unmask has found here, and what it gains.
    class Doctor
      SIZES = [125, 4 << 10, 64 << 10].freeze
      # Of each way to unmask at each size; twelve at most.
      SECONDS = 0.4
      private_constant :SIZES, :SECONDS

      # @param out [IO]
      # @param json [Boolean] whether all is one JSON object
      # @param speed [Boolean] whether to measure, too
      def initialize(out, json: false, speed: true)
        @out = out
        @json = json
        @speed = speed
      end

      # @return [Integer] the exit status
      def run
        facts = { version: VERSION, ruby: RUBY_DESCRIPTION, simd_level: WsUnmask.simd_level,
                  drop_ins: Integration::ALL.map { |integration| examine(integration) } }
        print_facts(facts) unless @json
        facts[:nanoseconds] = speed if @speed
        @json ? @out.puts(JSON.generate(facts)) : print_speed(facts[:nanoseconds])
        facts[:drop_ins].any? { |found| found[:state] == "fails" } ? CLI::FOUND : CLI::OK
      end

      private

      def examine(integration)
        version = integration.version
        state, why = version ? try(integration) : ["no library", nil]
        { require: integration.file, library: integration.gem_name, version:, state:, why:,
          tested: version && integration.tested?(version),
          in_gemfile: in_gemfile?(integration) }.compact
      end

      # Installing it here changes no other process.
      def try(integration)
        patches = quietly { integration.load::PATCHES }
        return "works" if patches.installed?

        patches.problem ? ["fails", patches.problem] : ["disabled", "by WS_UNMASK_DISABLE"]
      end

      # It warns of what is said here.
      def quietly
        stderr = $stderr
        $stderr = StringIO.new
        yield
      ensure
        $stderr = stderr
      end

      # nil without a Gemfile, or without ws_unmask in it.
      def in_gemfile?(integration)
        return unless defined?(Bundler) && Bundler.respond_to?(:load)

        line = Bundler.load.dependencies.find { |dependency| dependency.name == "ws_unmask" }
        line && Array(line.autorequire).include?(integration.file)
      rescue Bundler::GemfileNotFound
        nil
      end

      def print_facts(facts)
        @out.puts "ws_unmask #{facts[:version]}, SIMD level #{facts[:simd_level]}",
                  facts[:ruby], "", "drop-ins:"
        facts[:drop_ins].each do |found|
          @out.puts format("  %-30s %-28s %s", found[:require],
                           [found[:library], found[:version]].compact.join(" "), say(found))
        end
      end

      def say(found)
        works = found[:state] == "works"
        said = [found[:state], found[:why]].compact.join(": ")
        said += " (this version has not been tested)" if works && !found[:tested]
        case found[:in_gemfile]
        when true then "#{said}, and the Gemfile requires it"
        when false then works ? "#{said}; add require: \"#{found[:require]}\" to the Gemfile" : said
        else said
        end
      end

      def print_speed(nanoseconds)
        return unless nanoseconds

        @out.puts "", "to unmask a payload of #{SIZES.join(", ")} bytes, in microseconds:"
        nanoseconds.each do |name, times|
          @out.puts format("  %-30s %s", name, times.map { |ns| format("%10.2f", ns / 1e3) }.join)
        end
      end

      # @return [Hash{String => Array<Float>}] nanoseconds a call, by size
      def speed
        key = "\x37\xfa\x21\x3d".b
        payloads = SIZES.map { |size| Random.bytes(size) }
        ways.transform_values do |way|
          payloads.map { |payload| time { way.call(payload, key) } }
        end
      end

      def ways
        { "in Ruby" => method(:in_ruby), **io_buffer, **driver,
          "ws_unmask" => WsUnmask.method(:unmask),
          "ws_unmask, in place" => WsUnmask.method(:unmask!) }
      end

      def in_ruby(payload, key)
        key = key.bytes
        payload.bytes.each_with_index.map { |byte, i| byte ^ key[i & 3] }.pack("C*")
      end

      # What protocol-websocket asks.
      def io_buffer
        return {} unless defined?(IO::Buffer) && IO::Buffer.method_defined?(:xor!)

        { "IO::Buffer#xor!" => lambda { |payload, key|
          result = payload.dup
          IO::Buffer.for(result) { |buffer| buffer.xor!(IO::Buffer.for(key)) }
          result
        } }
      end

      # Its own, whether the integration is in its place or not.
      def driver
        return {} unless defined?(::WebSocket::Mask)

        mask = ::WebSocket::Mask
        own = mask.respond_to?(:mask_without_ws_unmask, true) ? :mask_without_ws_unmask : :mask
        { "websocket-driver's mask" => mask.method(own) }
      end

      def time(&)
        GC.start
        calls = 0
        start = clock
        calls += 1 while (clock - start < SECONDS / 2) && yield
        start = clock
        calls.times(&)
        (clock - start) * 1e9 / calls
      end

      def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
