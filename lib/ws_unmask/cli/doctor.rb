# frozen_string_literal: true

require "json"
require "stringio"
require_relative "doctor/sample_calls"

module WsUnmask
  class CLI
    # +ws_unmask doctor+: which libraries ws_unmask has found here, and what they gain.
    class Doctor
      SIZES = [125, 16 << 10].freeze
      # Each call is timed in rounds, without ws_unmask and with it in turn; the medians count.
      ROUNDS = 5
      SECONDS = 0.008
      # Bundler hides gems that are installed but not in the Gemfile.
      NOT_BUNDLED = "not in this bundle"
      private_constant :SIZES, :ROUNDS, :SECONDS, :NOT_BUNDLED

      # @param out [IO]
      # @param json [Boolean] whether all is one JSON object
      # @param speed [Boolean] whether to measure as well
      def initialize(out, json: false, speed: true)
        @out = out
        @json = json
        @speed = speed
      end

      # @return [Integer] the exit status
      def run
        facts = { version: VERSION, ruby: RUBY_DESCRIPTION, simd_level: WsUnmask.simd_level,
                  libraries: Integration::ALL.map { |integration| examine(integration) } }
        facts[:gemfile] = gemfile_line(facts[:libraries])
        facts.compact!
        print_facts(facts) unless @json
        facts[:gains] = gains if @speed
        @json ? @out.puts(JSON.generate(facts)) : print_gains(facts[:gains])
        facts[:libraries].any? { |found| found[:state] == "fails" } ? CLI::FOUND : CLI::OK
      end

      private

      def examine(integration)
        version = integration.version
        missing = bundle ? NOT_BUNDLED : "not installed"
        state, why = version ? try(integration) : missing
        { require: integration.file, library: integration.gem_name, version:, state:, why:,
          tested: version && integration.tested?(version), tested_versions: integration.tested,
          in_gemfile: in_gemfile?(integration) }.compact
      end

      # Installs it, in this process only.
      def try(integration)
        patches = quietly { integration.load::PATCHES }
        return "works" if patches.installed?

        patches.problem ? ["fails", patches.problem] : ["disabled", "by WS_UNMASK_DISABLE"]
      end

      # The report says the same as the warning.
      def quietly
        stderr = $stderr
        $stderr = StringIO.new
        yield
      ensure
        $stderr = stderr
      end

      # nil without a Gemfile, or without ws_unmask in it.
      def in_gemfile?(integration)
        line = bundle&.dependencies&.find { |dependency| dependency.name == "ws_unmask" }
        line && Array(line.autorequire).include?(integration.file)
      end

      # nil without a Gemfile.
      def bundle
        Bundler.load if defined?(Bundler) && Bundler.respond_to?(:load)
      rescue Bundler::GemfileNotFound
        nil
      end

      # @return [String, nil] the line that requires every integration that works; nil if the
      #   Gemfile has it already
      def gemfile_line(libraries)
        works = libraries.select { |found| found[:state] == "works" }
        return if works.all? { |found| found[:in_gemfile] }

        files = works.map { |found| found[:require] }
        required = files.one? ? files.first.inspect : "%w[#{files.join(" ")}]"
        ['gem "ws_unmask"', *source, "require: #{required}"].join(", ")
      end

      # @return [Array<String>, String, nil] where Bundler finds this copy; nil for an installed gem
      def source
        root = File.expand_path("../../..", __dir__)
        return unless File.exist?("#{root}/ws_unmask.gemspec") # which gems do not contain

        source = Gem.loaded_specs["ws_unmask"]&.source
        return "path: #{root.inspect}" unless defined?(Bundler::Source::Git) &&
                                              source.is_a?(Bundler::Source::Git)

        # With the branch, tag or ref of the Gemfile.
        options = source.options.slice("branch", "tag", "ref")
        { "git" => source.uri, **options }.map { |name, value| "#{name}: #{value.inspect}" }
      end

      def print_facts(facts)
        @out.puts "ws_unmask #{facts[:version]}, SIMD level #{facts[:simd_level]}",
                  facts[:ruby], "", "Libraries that it can speed up:"
        facts[:libraries].each do |found|
          name = [found[:library], found[:version]].compact.join(" ")
          @out.puts format("  %-30s %s", name, describe(found))
        end
        @out.puts "", "Line for the Gemfile:", "  #{facts[:gemfile]}" if facts[:gemfile]
        works = facts[:libraries].select { |found| found[:state] == "works" }
        requires = works.map { |found| "  require #{found[:require].inspect}" }
        return if requires.empty?

        @out.puts "", "An app that does not call Bundler.require (Rails does) also needs:", requires
      end

      def describe(found)
        versions = found[:tested_versions].join(", ").delete_prefix("= ")
        tested = if found[:tested] == false then "this version is not tested, only #{versions}"
                 else
                   "tested with #{versions}"
                 end
        gemfile = { true => "required in the Gemfile", false => "not required in the Gemfile" }
                  .fetch(found[:in_gemfile], nil)
        [[found[:state], found[:why]].compact.join(": "),
         (gemfile if found[:state] == "works"), tested].compact.join("; ")
      end

      def print_gains(gains)
        return unless gains

        @out.puts "", "Time per call on this machine, without ws_unmask -> with it. A whole app",
                  "gains less, since it does more than make this call:"
        gains.group_by { |gain| gain.values_at(:library, :call) }.each do |names, row|
          cells = row.map do |gain|
            without, with = gain.values_at(:without_ns, :with_ns)
            format("%6d B: %7.1f -> %6.1f us (%.1fx)", gain[:bytes], without / 1e3, with / 1e3,
                   without / with)
          end
          @out.puts format("  %-34s %s", names.join(", "), cells.join("  "))
        end
      end

      # @return [Array<Hash>] nanoseconds per call for each library that works, and for plain Ruby
      def gains
        installed = PatchSet.all.select(&:installed?).to_h { |patches| [patches.name, patches] }
        found = installed.values_at(*Integration::ALL.map(&:name)).compact
                         .flat_map { |patches| gains_of(patches) }
        SIZES.each do |size|
          payload = Random.bytes(size)
          key = Random.bytes(4)
          found << { library: "plain Ruby", call: "unmask", bytes: size,
                     **times(-> { in_ruby(payload, key) }, -> { WsUnmask.unmask(payload, key) }) }
        end
        found
      end

      def gains_of(patches)
        SIZES.flat_map do |size|
          SampleCalls.of(patches.integration, size).map do |name, call|
            { library: patches.integration.gem_name, call: name, bytes: size,
              **times(call, call, before: -> { patches.uninstall }, after: -> { patches.install }) }
          end
        end
      ensure
        patches.install
      end

      def times(without, with, before: -> {}, after: -> {})
        rounds = Array.new(ROUNDS) do
          before.call
          alone = time(without)
          after.call
          [alone, time(with)]
        end
        %i[without_ns with_ns].zip(rounds.transpose.map { |all| all.sort[ROUNDS / 2] }).to_h
      end

      def in_ruby(payload, key)
        key = key.bytes
        payload.bytes.each_with_index.map { |byte, i| byte ^ key[i & 3] }.pack("C*")
      end

      def time(call)
        GC.start
        call.call # the first one takes longer, since caches are cold
        calls = 0
        start = clock
        while clock - start < SECONDS
          call.call
          calls += 1
        end
        (clock - start) * 1e9 / calls
      end

      def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
