# frozen_string_literal: true

require "fileutils"
require "open3"
require "pty"
require "rbconfig"
require "tmpdir"

RSpec.describe "ext/ws_unmask/extconf.rb" do
  extconf = File.expand_path("../ext/ws_unmask/extconf.rb", __dir__)

  around do |example|
    Dir.mktmpdir do |folder|
      @folder = folder
      Dir.chdir(folder) { example.run }
    end
  end

  # A program that prints a line, the only one on the PATH.
  def fake(program, output)
    FileUtils.mkdir_p("#{@folder}/bin")
    File.write("#{@folder}/bin/#{program}", "#!/bin/sh\necho '#{output}'\n", perm: 0o755)
  end

  # A folder for libclang, with these files.
  def libclang(*files)
    files.each do |file|
      FileUtils.mkdir_p(File.dirname("#{@folder}/clang/#{file}"))
      FileUtils.touch("#{@folder}/clang/#{file}")
    end
    { "LIBCLANG_PATH" => "#{@folder}/clang" }
  end

  define_method(:configure) do |env = {}|
    output, status = Open3.capture2e({ "PATH" => "#{@folder}/bin", **env }, RbConfig.ruby, extconf)
    [output, status.success?]
  end

  def nothing_missing
    ["make", RbConfig::CONFIG["CC"].split.first].each { |program| fake(program, "") }
  end

  it "says how to install Rust if there is none" do
    expect(configure).to match [/cargo not found.*install it from/, false]
  end

  it "says that Rust is too old" do
    fake("cargo", "cargo 1.80.1 (376290515 2024-07-16)")
    expect(configure)
      .to match [/Rust 1\.\d+ or later, .* says 1\.80\.1: run `rustup update`/, false]
  end

  context "with a Rust that is new enough", if: RUBY_PLATFORM.include?("linux") do
    before { fake("cargo", "cargo 99.0.0") }

    it "says how to install libclang" do
      expect(configure(libclang("README"))).to match [/libclang not found .*libclang-dev/, false]
    end

    it "says how to install libclang's headers" do
      expect(configure(libclang("libclang.so.1")))
        .to match [/not its headers \(stddef\.h\) .*libclang-dev/, false]
    end

    context "with libclang" do
      let(:env) { libclang("libclang-14.so.1", "clang/14.0.6/include/stddef.h") }

      it "says how to install a linker" do
        fake("make", "GNU Make 4.3")
        expect(configure(env)).to match [/^\S*gcc not found: .*apt-get install gcc/, false]
      end

      it "continues if nothing is missing" do
        nothing_missing
        expect(configure(env).last).to be true
        expect(File).to exist("Makefile")
      end

      it "announces the build on the terminal, which RubyGems does not capture" do
        nothing_missing
        terminal, _, pid = PTY.spawn({ "PATH" => "#{@folder}/bin", **env },
                                     "#{RbConfig.ruby} #{extconf} >#{@folder}/captured 2>&1")
        shown = terminal.gets
        Process.wait(pid)
        expect(shown).to include "ws_unmask: compiling with cargo 99.0.0"
      end
    end

    it "finds the installed tools" do
      nothing_missing
      expect(configure.last).to be true
    end
  end
end
