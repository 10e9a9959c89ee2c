# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

# The gems as users get them: packed, installed in an empty folder, and used from another.
RSpec.describe "the gem" do
  root = File.expand_path("..", __dir__)

  # Packed once for all examples.
  before(:context) do
    FileUtils.rm_rf("#{root}/pkg")
    run("bundle", "exec", "rake", "--quiet", "native", "gem", chdir: root)
    @source = "#{root}/pkg/ws_unmask-#{WsUnmask::VERSION}.gem"
    @precompiled = (Dir["#{root}/pkg/*.gem"] - [@source]).first
  end

  around do |example|
    Dir.mktmpdir do |folder|
      @home = File.join(folder, "home")
      @empty = File.join(folder, "empty")
      Dir.mkdir(@empty)
      Bundler.with_unbundled_env { example.run }
    end
  end

  def run(*command, **options)
    output, status = Open3.capture2e(*command, **options)
    raise "#{command.join(" ")} failed:\n#{output}" unless status.success?

    output
  end

  # Evaluates a Ruby expression about the gemspec, with the project's rake tasks loaded.
  def of_gemspec(root, expression)
    run("bundle", "exec", "ruby", "-rrake", "-rrake/clean", "-e",
        "load 'rakelib/compile.rake'; spec = Gem::Specification.load('ws_unmask.gemspec'); " \
        "print(#{expression})", chdir: root)
  end

  def install(gem, env = {})
    run(env, RbConfig.ruby, "-S", "gem", "install", "--local", "--no-document",
        "--ignore-dependencies", "--install-dir", @home, gem, chdir: @empty)
  end

  def use
    env = { "GEM_HOME" => @home, "GEM_PATH" => [@home, *Gem.path].join(File::PATH_SEPARATOR) }
    script = 'require "ws_unmask"; print WsUnmask.unmask("\x7f\x9f".b, "7\xfa!=".b), ' \
             "$LOADED_FEATURES.grep(/ws_unmask/)"
    output = run(env, RbConfig.ruby, "-e", script, chdir: @empty)
    expect(output).to start_with "He"
    expect(output).to include @home
    command = run(env, RbConfig.ruby, "#{@home}/bin/ws_unmask", "doctor", "--no-speed")
    expect(command).to include "ws_unmask #{WsUnmask::VERSION}"
  end

  def path_without_cargo
    ENV.fetch("PATH").split(File::PATH_SEPARATOR)
       .reject { |folder| File.exist?(File.join(folder, "cargo")) }.join(File::PATH_SEPARATOR)
  end

  it "is packed without a warning, and has a homepage" do
    Dir.mktmpdir do |folder|
      output = run(RbConfig.ruby, "-S", "gem", "build", "--strict", "ws_unmask.gemspec",
                   "--output", "#{folder}/strict.gem", chdir: root)
      expect(output).not_to include "WARNING"
    end
    expect(of_gemspec(root, "spec.metadata.keys"))
      .to include("homepage_uri", "source_code_uri", "changelog_uri", "bug_tracker_uri")
  end

  it "takes a RubyGems that knows musl where it is precompiled for musl" do
    { "x86_64-linux-musl" => ">= 3.3.22", "x86_64-linux" => ">= 0" }.each do |platform, version|
      set = "spec.platform = '#{platform}'; require_rubygems_that_knows_musl(spec)"
      expect(of_gemspec(root, "(#{set}; spec.required_rubygems_version)")).to end_with version
    end
  end

  it "is compiled from its source at installation" do
    install(@source)
    use
  end

  it "says what to do where there is no Rust to compile it" do
    expect { install(@source, "PATH" => path_without_cargo) }
      .to raise_error(/cargo not found.*install it from/)
  end

  it "needs neither Rust nor rb_sys where it is precompiled" do
    install(@precompiled, "PATH" => path_without_cargo)
    use
    expect(Dir["#{@home}/gems/*/ext", "#{@home}/gems/*/Cargo.toml"]).to be_empty
    expect(Dir["#{@home}/gems/*/LICENSE-THIRD-PARTY"].size).to eq 1
    expect(run(RbConfig.ruby, "-S", "gem", "specification", @precompiled, "dependencies"))
      .not_to include "rb_sys"
  end
end
