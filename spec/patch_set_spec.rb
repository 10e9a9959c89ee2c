# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

RSpec.describe WsUnmask::PatchSet do
  # A library of one class in one file, and changes to it in another.
  around do |example|
    Dir.mktmpdir do |folder|
      @folder = folder
      $LOAD_PATH.unshift("#{folder}/lib")
      Dir.mkdir("#{folder}/lib")
      example.run
    ensure
      $LOAD_PATH.delete("#{folder}/lib")
      $LOADED_FEATURES.reject! { |path| path.start_with?(folder) }
      Object.send(:remove_const, :TestLibrary) if Object.const_defined?(:TestLibrary)
      described_class.all.reject! { |patches| patches.name == :test }
    end
  end

  def library(code = <<~RUBY)
    class TestLibrary
      def mask(_payload, _key) = "theirs"

      def both(payload, key) = [mask(payload, key), hidden(1)]

      def passed_by = "theirs"

      private

      def hidden(_) = "theirs"
    end
  RUBY
    File.write("#{@folder}/lib/test_library.rb", code)
  end

  def elsewhere(code)
    File.write("#{@folder}/instrumentation.rb", code)
    load "#{@folder}/instrumentation.rb"
  end

  let(:patch) do
    Module.new do
      def mask(payload, key) = ["ours", mask_without_ws_unmask(payload, key), ws_unmask_help]

      private

      def hidden(_) = "ours"

      def ws_unmask_help = "help"
    end
  end
  let(:integration) do
    WsUnmask::Integration.new(name: :test, gem_name: "test-library", features: ["test_library"])
  end
  let(:patches) do
    described_class.new(integration) do |patches|
      patches.replace TestLibrary, patch
      patches.leave_out TestLibrary, :passed_by
    end
  end

  def expect_refusal(reason)
    expect { 2.times { expect(patches.install).to be false } }
      .to output(/\Aws_unmask: test-library .*#{reason}.*\n\z/).to_stderr
    expect(patches.problem).to match(reason)
    expect(patches).not_to be_installed
    expect(WsUnmask.installed).not_to include :test
  end

  describe "#install" do
    before { library }

    it "replaces methods and keeps the library's own, with the same visibility" do
      expect(patches.install).to be true
      expect(patches.install).to be true
      expect(TestLibrary.new.both("", "")).to eq [%w[ours theirs help], "ours"]
      expect(TestLibrary.instance_method(:mask).owner).to be TestLibrary
      expect { TestLibrary.new.hidden(1) }.to raise_error(NoMethodError, /private/)
      expect { TestLibrary.new.mask_without_ws_unmask(1, 2) }.to raise_error(NoMethodError)
      expect(WsUnmask.installed).to include :test
    end

    it "leaves a library alone if its methods take other arguments" do
      library("class TestLibrary; def mask(_payload, _key, _offset) = 1; end")
      expect_refusal(/TestLibrary#mask takes 3 arguments here, not 2/)
    end

    it "leaves a library alone if it lacks a method" do
      library("class TestLibrary; def mask(_payload, _key) = 'theirs'; end")
      expect_refusal(/it has no method TestLibrary#hidden/)
      expect(TestLibrary.new.mask("", "")).to eq "theirs"
    end

    it "leaves a library alone if it already has a method of the same name" do
      library("class TestLibrary; def mask(_, _) = 1; def hidden(_) = 1; " \
              "def ws_unmask_help = 1; end")
      expect_refusal(/it already has a method TestLibrary#ws_unmask_help/)
    end

    {
      "redefined" => "class TestLibrary; def mask(_payload, _key) = 'hook'; end",
      "chained" => "class TestLibrary; alias_method :old, :mask; def mask(a, b) = old(a, b); end",
      "prepended" => "TestLibrary.prepend(Module.new { def mask(_payload, _key) = 'hook' })",
      "left out and redefined" => "class TestLibrary; def passed_by = 'hook'; end"
    }.each do |how, code|
      it "leaves the library alone where a method is #{how}, and says where" do
        require "test_library"
        elsewhere(code)
        expect_refusal(%r{TestLibrary#\w+ has been redefined at #{@folder}/instrumentation\.rb:1\b})
      end
    end

    it "ignores changes to other methods" do
      require "test_library"
      elsewhere("TestLibrary.prepend(Module.new { def both(*) = [super, 'hook'] })")
      expect(patches.install).to be true
      expect(TestLibrary.new.both("", "")).to eq [[%w[ours theirs help], "ours"], "hook"]
    end

    it "says what to do if the library is not installed" do
      File.delete("#{@folder}/lib/test_library.rb")
      expect { patches.install }
        .to output(%r{\Aws_unmask: test-library is not installed, so ws_unmask/test does nothing.})
        .to_stderr
      expect(patches.problem).to eq "it is not installed"
    end

    {
      "raise TypeError, 'superclass mismatch'" => /it cannot be patched: superclass .*TypeError/,
      "def" => /SyntaxError/,
      "require 'no/such/library'" => %r{it cannot be loaded: .*no/such/library},
      "raise NotImplementedError, 'here'" => /here \(NotImplementedError\)/,
      "" => /uninitialized constant .*TestLibrary/
    }.each do |code, reason|
      it "does not stop the boot of an app whose library contains #{code.inspect}" do
        library(code)
        expect_refusal(reason)
      end
    end
  end

  describe "#uninstall" do
    before { library }

    it "restores the library's own methods, which can be replaced again" do
      2.times do
        patches.install
        expect(patches.uninstall).to be true
        expect(patches.uninstall).to be false
        expect(TestLibrary.new.both("", "")).to eq %w[theirs theirs]
        expect { TestLibrary.new.hidden(1) }.to raise_error(NoMethodError, /private/)
        expect(WsUnmask.installed).not_to include :test
      end
      expect(patches.install).to be true
      expect(TestLibrary.new.both("", "")).to eq [%w[ours theirs help], "ours"]
    end

    it "does nothing while a method is wrapped, and says where" do
      patches.install
      elsewhere("class TestLibrary; alias_method :old, :mask; " \
                "def mask(a, b) = [old(a, b), 'hook']; end")
      expect { expect(patches.uninstall).to be false }
        .to output(%r{\Aws_unmask: ws_unmask/test stays .*: TestLibrary#mask .*rb:1}).to_stderr
      expect(TestLibrary.new.mask("", "").last).to eq "hook"
      expect(TestLibrary.new.mask("", "").first.first).to eq "ours"
    end
  end

  describe "#unhooked?" do
    before do
      library
      patches.install
    end

    let(:object) { TestLibrary.new }

    it "is true until a method that is left out is hooked, in the class or an object" do
      expect(patches.unhooked?([object])).to be true
      object.extend(Module.new { def passed_by = "hook" })
      expect(patches.unhooked?([object])).to be false
      expect(patches.unhooked?).to be true
      TestLibrary.prepend(Module.new { def passed_by = "hook" })
      expect(patches.unhooked?).to be false
    end

    it "is detected by an object that was checked before" do
      TestLibrary.class_exec(patches) do |patches|
        define_method(:ask) { ws_unmask_unhooked?(patches) }
      end
      others = Array.new(2) { TestLibrary.new }
      expect([object, *others].map(&:ask)).to eq [true, true, true]
      object.extend(Module.new { def passed_by = "hook" })
      def (others.first).passed_by = "hook"
      expect([object, *others].map(&:ask)).to eq [false, false, true]
      elsewhere("class TestLibrary; alias_method :old, :passed_by; def passed_by = old; end")
      expect(others.last.ask).to be false
    end
  end

  describe "WS_UNMASK_DISABLE" do
    def run(script, env = {})
      lib = File.expand_path("../lib", __dir__)
      output, status = Open3.capture2e(env, RbConfig.ruby, "-I#{lib}", "-e", script)
      expect(status).to be_success, output
      output
    end

    it "turns integrations off, whether the library is loaded before or after" do
      before = "require 'ws_unmask/websocket_driver'; require 'websocket/driver'; "
      after = "require 'websocket/driver'; require 'ws_unmask/websocket_driver'; "
      show = "print WsUnmask.installed, ' ', " \
             "WebSocket::Mask.method(:mask).source_location.to_s.include?('integrations')"
      expect(run(before + show)).to eq "[:websocket_driver] true"
      expect(run(after + show)).to eq "[:websocket_driver] true"
      expect(run(after + show, "WS_UNMASK_DISABLE" => "1")).to eq "[] false"
    end
  end
end
