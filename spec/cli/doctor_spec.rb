# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require "stringio"
require "tmpdir"
require "ws_unmask/cli"

RSpec.describe WsUnmask::CLI::Doctor do
  # @return [Array] the exit status and what is printed
  def doctor(**options)
    out = StringIO.new
    [described_class.new(out, **options).run, out.string]
  end

  def library(facts, name)
    facts["libraries"].find { |found| found["require"] == "ws_unmask/#{name}" }
  end

  describe "#run" do
    it "finds the libraries and says whether they work" do
      allow(WsUnmask::Integration.find(:midori)).to receive(:version).and_return(nil)
      status, out = doctor(json: true, speed: false)
      facts = JSON.parse(out)
      expect(status).to eq WsUnmask::CLI::OK
      expect(facts).to include("version" => WsUnmask::VERSION,
                               "simd_level" => WsUnmask.simd_level.to_s)
      expect(facts["libraries"].map { |found| found["library"] })
        .to eq(WsUnmask::Integration::ALL.map(&:gem_name))
      expect(library(facts, "websocket_driver"))
        .to include("library" => "websocket-driver", "state" => "works", "version" => /\A\d/,
                    "tested" => true, "in_gemfile" => false)
      expect(library(facts, "midori")["state"]).to start_with "not "
    end

    it "prints a report" do
      allow(WsUnmask::Integration.find(:midori)).to receive(:version).and_return(nil)
      _, out = doctor(speed: false)
      expect(out)
        .to match(/^  websocket-driver \d\S+ +works; .*tested with >= 0\.6, < 0\.9$/)
        .and match(/^  midori.rb +not (?:installed|in this bundle); tested with /)
        .and match(%r{^  gem "ws_unmask", path: ".*", require: .*ws_unmask/websocket_driver})
        .and match(%r{^  require "ws_unmask/websocket_driver"$})
    end

    it "says that a version has not been tested" do
      allow(WsUnmask::Integration.find(:websocket_driver)).to receive(:version).and_return("99.0")
      expect(doctor(speed: false).last)
        .to include("websocket-driver 99.0")
        .and include("this version is not tested, only >= 0.6, < 0.9")
    end

    it "measures each library with its integration and without, and leaves it installed" do
      stub_const("#{described_class}::SECONDS", 0.001)
      _, out = doctor(json: true)
      facts = JSON.parse(out)
      works = facts["libraries"].select { |found| found["state"] == "works" }
      measured = facts["gains"].map { |gain| gain["library"] }.uniq
      not_timed = %w[websocket-client-simple permessage_deflate]
      libraries = works.map { |found| found["library"] } - not_timed
      expect(measured).to eq([*libraries, "plain Ruby"])
      expect(facts["gains"]).to all include("bytes" => Integer, "without_ns" => be_positive,
                                            "with_ns" => be_positive)
      expect(doctor.last).to match(/^  websocket-driver, receive +125 B: +[\d.]+ -> +[\d.]+ us/)
      expect(WsUnmask.installed).to include :websocket_driver
    end

    # Runs it in a separate process, with a replacement for the library.
    def doctor_of(code, env = {})
      Dir.mktmpdir do |folder|
        File.write("#{folder}/websocket.rb", code)
        root = File.expand_path("../..", __dir__)
        Open3.capture3(env, RbConfig.ruby, "-I#{folder}", "-I#{root}/lib", "#{root}/exe/ws_unmask",
                       "doctor", "--json", "--no-speed")
      end
    end

    {
      "raise TypeError, 'superclass mismatch'" => /it cannot be patched: superclass mismatch/,
      "def" => /it cannot be patched: .*syntax error/,
      "require 'no/such/file'" => %r{it cannot be loaded: .*no/such/file},
      "raise NotImplementedError" => /NotImplementedError/,
      "" => /uninitialized constant/
    }.each do |code, why|
      it "reports a library that contains #{code.inspect}" do
        out, err, status = doctor_of(code)
        expect(status.exitstatus).to eq WsUnmask::CLI::FOUND
        facts = JSON.parse(out)
        expect(library(facts, "websocket")).to include("state" => "fails", "why" => why)
        expect(library(facts, "websocket_driver")).to include("state" => "works")
        expect(err).to be_empty
      end
    end

    # Runs it with `bundle exec` in a temporary app.
    def doctor_in_app(gemfile)
      skip "Bundler is not installed" unless system("bundle", "--version", out: IO::NULL,
                                                                           err: IO::NULL)

      Dir.mktmpdir do |folder|
        File.write("#{folder}/Gemfile", gemfile)
        env = { "BUNDLE_GEMFILE" => "#{folder}/Gemfile", "RUBYOPT" => nil, "RUBYLIB" => nil }
        command = File.expand_path("../../exe/ws_unmask", __dir__)
        output, status = Open3.capture2e(env, "bundle", "exec", "ruby", command, "doctor",
                                         "--no-speed", chdir: folder)
        raise output unless status.success?

        output
      end
    end

    context "when run with bundle exec" do
      root = File.expand_path("../..", __dir__)
      driver = %(gem "websocket-driver", require: false\n)

      it "says which libraries are not in the bundle" do
        expect(doctor_in_app(%(gem "ws_unmask", path: "#{root}"\n#{driver})))
          .to match(/^  websocket-driver \d\S+ +works; not required in the Gemfile; /)
          .and match(/^  em-websocket +not in this bundle; /)
      end

      it "prints a line that it is satisfied with" do
        line = doctor_in_app(%(gem "ws_unmask", path: "#{root}"\n#{driver}))[/^  (gem .*)/, 1]
        expect(line).to end_with %(path: "#{root}", require: "ws_unmask/websocket_driver")
        report = doctor_in_app("#{line}\n#{driver}")
        expect(report).to match(/^  websocket-driver \d\S+ +works; required in the Gemfile; /)
        expect(report).not_to include "Line for the Gemfile"
      end
    end

    it "keeps what the Gemfile requires already in the line" do
      skip "websocket is not installed" unless WsUnmask::Integration.find(:websocket).version
      gemfile = <<~RUBY
        gem "ws_unmask", path: "#{File.expand_path("../..", __dir__)}", require: "ws_unmask/websocket"
        gem "websocket"
        gem "websocket-driver"
      RUBY
      expect(doctor_in_app(gemfile))
        .to include "require: %w[ws_unmask/websocket_driver ws_unmask/websocket]"
    end

    it "says that WS_UNMASK_DISABLE is set" do
      out, = doctor_of("", "WS_UNMASK_DISABLE" => "1")
      expect(library(JSON.parse(out), "websocket_driver"))
        .to include("state" => "disabled", "why" => "by WS_UNMASK_DISABLE")
    end
  end
end
