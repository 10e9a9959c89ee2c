# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

# A copy of lib, with binaries in the places where precompiled and installed gems have them.
RSpec.describe "the loader of the binary" do
  lib = File.expand_path("../lib", __dir__)
  ruby = RUBY_VERSION[/\d+\.\d+/]
  binary = "ws_unmask.#{RbConfig::CONFIG["DLEXT"]}"

  around do |example|
    Dir.mktmpdir do |folder|
      @folder = File.realpath(folder)
      FileUtils.mkdir_p("#{@folder}/gem")
      FileUtils.cp_r(lib, "#{@folder}/gem")
      FileUtils.rm_rf(Dir["#{@folder}/gem/lib/ws_unmask/{#{binary},[0-9]*}"])
      Bundler.with_unbundled_env { example.run }
    end
  end

  # Puts the binary, or a replacement, into a subfolder of the temporary folder.
  define_method(:put) do |folder, content = File.binread("#{lib}/ws_unmask/#{binary}")|
    FileUtils.mkdir_p("#{@folder}/#{folder}")
    File.binwrite("#{@folder}/#{folder}/#{binary}", content)
  end

  def load_with(*folders)
    paths = ["gem/lib", *folders].map { |folder| "-I#{@folder}/#{folder}" }
    output, = Open3.capture2e(RbConfig.ruby, *paths, "-e", "require 'ws_unmask'; print 'loaded'")
    output
  end

  it "finds the one of a precompiled gem, for this Ruby" do
    put("gem/lib/ws_unmask/#{ruby}")
    expect(load_with).to eq "loaded"
  end

  it "needs no RubyGems" do
    put("gem/lib/ws_unmask")
    output, = Open3.capture2e(RbConfig.ruby, "--disable-gems", "-I#{@folder}/gem/lib",
                              "-e", "require 'ws_unmask'; print 'loaded'")
    expect(output).to eq "loaded"
  end

  it "finds the one that was compiled at installation, beside it" do
    put("gem/lib/ws_unmask")
    expect(load_with).to eq "loaded"
  end

  it "finds the one in RubyGems' folder of extensions" do
    put("extensions/ws_unmask")
    expect(load_with("extensions")).to eq "loaded"
  end

  it "says why a precompiled one does not load" do
    put("gem/lib/ws_unmask/#{ruby}", "no library")
    expect(load_with).to include("ws_unmask/#{ruby}/#{binary}: ", "LoadError")
  end

  it "says why a compiled one does not load" do
    put("extensions/ws_unmask", "no library")
    expect(load_with("extensions")).to include("extensions/ws_unmask/#{binary}: ", "LoadError")
  end

  it "says for which Rubies there is a binary, if there is none for this one" do
    put("gem/lib/ws_unmask/9.8")
    put("gem/lib/ws_unmask/9.9")
    expect(load_with).to include("for Ruby #{RUBY_VERSION}: this gem is precompiled for " \
                                 "Ruby 9.8, 9.9", "--platform ruby")
  end

  it "says how to compile it in a checkout" do
    FileUtils.touch("#{@folder}/gem/Rakefile")
    expect(load_with).to include "run `bundle exec rake compile` in #{@folder}/gem"
  end

  it "says how to install it again" do
    expect(load_with).to include "gem pristine ws_unmask"
  end
end
