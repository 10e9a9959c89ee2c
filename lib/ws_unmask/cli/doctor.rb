# frozen_string_literal: true

require "json"
require "stringio"

module WsUnmask
  class CLI
    # +ws_unmask doctor+: what ws_unmask has found here, and what it gains.
    class Doctor
      # The drop-ins: their files, and the gems that they are for.
      GEMS = {
        "websocket_driver" => "websocket-driver",
        "protocol_websocket" => "protocol-websocket",
        "websocket" => "websocket",
        "em_websocket" => "em-websocket",
        "midori" => "midori.rb"
      }.freeze
      SIZES = [125, 4 << 10, 64 << 10].freeze
      # Of each way to unmask at each size; twelve at most.
      SECONDS = 0.4
      private_constant :GEMS, :SIZES, :SECONDS

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
                  drop_ins: }
        print_facts(facts) unless @json
        facts[:nanoseconds] = speed if @speed
        @json ? @out.puts(JSON.generate(facts)) : print_speed(facts[:nanoseconds])
        facts[:drop_ins].any? { |drop_in| drop_in[:state] == "fails" } ? CLI::FOUND : CLI::OK
      end

      private

      def drop_ins
        GEMS.map do |file, gem|
          version = version_of(gem)
          state, why = version ? try(file) : ["no library", nil]
          { require: "ws_unmask/#{file}", library: gem, version:, state:, why:,
            in_gemfile: in_gemfile?(file) }.compact
        end
      end

      def version_of(gem)
        (Gem.loaded_specs[gem] || Gem::Specification.find_by_name(gem)).version.to_s
      rescue Gem::MissingSpecError
        nil
      end

      # Installing it here changes no other process.
      def try(file)
        warnings = StringIO.new
        stderr = $stderr
        $stderr = warnings
        require "ws_unmask/#{file}"
        return "works" if WsUnmask.installed.include?(file.to_sym)

        why = warnings.string[/is not installed: (.*)/, 1]
        why ? ["fails", why] : ["disabled", "by WS_UNMASK_DISABLE"]
      ensure
        $stderr = stderr
      end

      # nil without a Gemfile, or without ws_unmask in it.
      def in_gemfile?(file)
        return unless defined?(Bundler) && Bundler.respond_to?(:load)

        line = Bundler.load.dependencies.find { |dependency| dependency.name == "ws_unmask" }
        line && Array(line.autorequire).include?("ws_unmask/#{file}")
      rescue Bundler::GemfileNotFound
        nil
      end

      def print_facts(facts)
        @out.puts "ws_unmask #{facts[:version]}, SIMD level #{facts[:simd_level]}",
                  facts[:ruby], "", "drop-ins:"
        facts[:drop_ins].each do |drop_in|
          @out.puts format("  %-30s %-28s %s", drop_in[:require],
                           [drop_in[:library], drop_in[:version]].compact.join(" "), say(drop_in))
        end
      end

      def say(drop_in)
        state = [drop_in[:state], drop_in[:why]].compact.join(": ")
        case drop_in[:in_gemfile]
        when true then "#{state}, and the Gemfile requires it"
        when false
          works = drop_in[:state] == "works"
          works ? "#{state}; add require: \"#{drop_in[:require]}\" to the Gemfile" : state
        else state
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

      # Its own, whether the drop-in is in its place or not.
      def driver
        return {} unless defined?(::WebSocket::Mask) && defined?(WsUnmask::WebSocketDriver)

        mask = ::WebSocket::Mask.method(:mask)
        { "websocket-driver's mask" => mask.super_method || mask }
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
