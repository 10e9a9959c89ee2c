# frozen_string_literal: true

require "fileutils"
require_relative "debian_root"

# Precompiled gems for Linux, each for several Rubies: cross-compiled in a Debian root, against the
# headers and the C library of an older Debian, and tested in roots with Ruby but without Rust.
class Precompiled
  # A platform of gems, as Rust, Debian and GNU call it.
  Platform = Struct.new(:name, :rust, :debian, :gnu)
  PLATFORMS = [
    Platform.new("x86_64-linux", "x86_64-unknown-linux-gnu", "amd64", "x86_64-linux-gnu"),
    Platform.new("aarch64-linux", "aarch64-unknown-linux-gnu", "arm64", "aarch64-linux-gnu")
  ].freeze
  # The gems are built for the Rubies of these suites (3.1, 3.3), with the C library of the first.
  SUITES = %w[bookworm forky].freeze
  # The libraries for the integrations' specs on another CPU.
  LIBRARIES = %w[ruby-rspec ruby-websocket-driver ruby-faye-websocket puma ruby-websocket
                 ruby-em-websocket].freeze
  NEWER_LIBRARIES = %w[ruby-protocol-websocket ruby-async-websocket].freeze
  # CPUs that can be compiled for, by Debian's name and by Rust's.
  CPUS = { "arm64" => "aarch64", "s390x" => "s390x" }.freeze
  TOOLS = %w[git rustc cargo gcc libc6-dev libclang-dev make ruby ruby-dev bundler rake-compiler
             ruby-rb-sys qemu-user].freeze
  SMOKE = File.expand_path("smoke.rb", __dir__)
  # Gems that Debian does not have, where the specs look for them.
  GEMS = { File.expand_path("../shared/ruby/gems") => "/shared/ruby/gems" }
         .select { |folder, _| Dir.exist?(folder) }.freeze
  private_constant :SMOKE, :LIBRARIES, :NEWER_LIBRARIES, :TOOLS, :GEMS

  # @return [DebianRoot] with compilers for all CPUs
  def self.tools(mounts: {})
    packages = CPUS.flat_map do |debian, rust|
      ["libstd-rust-dev:#{debian}", "gcc-#{rust}-linux-gnu", "libc6-dev-#{debian}-cross"]
    end
    DebianRoot.new("cross_gem", suite: "forky", packages: TOOLS + packages, mounts:,
                                architectures: ["amd64", *CPUS.keys])
  end

  # @param name [String] of the gem's platform
  # @param ruby [String, nil] the folder of a Ruby of this machine to build for as well
  def initialize(name, ruby: nil)
    @platform = PLATFORMS.find { |platform| platform.name == name }
    @ruby = ruby
  end

  # @return [Platform]
  attr_reader :platform

  # @return [String] the gem's file
  def build
    roots.each_value(&:make)
    builder.make
    tell_rake_compiler
    builder.run("rm -rf pkg && rake --quiet native:#{@platform.name} gem", rust: false, env: tools)
    FileUtils.mkdir_p("pkg")
    FileUtils.cp(Dir["#{builder.root}/ws_unmask/#{file}"].fetch(0), file)
    file
  end

  # Installs the gem and uses it, in each root and with the Ruby of this machine.
  def smoke
    roots.each_value do |root|
      FileUtils.rm_rf("#{root.root}/tmp/smoke")
      FileUtils.mkdir_p(["#{root.root}/tmp/smoke", "#{root.root}/ws_unmask/tmp/tested"])
      FileUtils.cp([file, SMOKE], "#{root.root}/tmp/smoke")
      root.run_bare("cd /tmp/smoke && gem install --local --no-document *.gem && " \
                    "ruby smoke.rb /ws_unmask/tmp/tested/smoke.json && " \
                    "home/bin/ws_unmask doctor --no-speed",
                    env: { "GEM_HOME" => "/tmp/smoke/home" })
    end
    smoke_here if @ruby && File.exist?("#{@ruby}/bin/ruby")
  end

  # @return [Hash{String => DebianRoot}] by suite: those that have a Ruby and no Rust
  def roots
    @roots ||= SUITES.to_h do |suite|
      packages = %w[base-files coreutils dash libc-bin ruby ruby-dev libc6-dev] + LIBRARIES
      packages += NEWER_LIBRARIES if suite != SUITES.first
      name = "#{@platform.debian}-#{suite}"
      [suite, DebianRoot.new(name, suite:, packages:, architectures: [@platform.debian],
                                   variant: "extract", mounts: GEMS)]
    end
  end

  # @return [String] of the gem
  def file
    "pkg/ws_unmask-#{Bundler.load_gemspec("ws_unmask.gemspec").version}-#{@platform.name}.gem"
  end

  private

  # Without Cargo on the PATH.
  def smoke_here
    home = File.expand_path("tmp/smoke")
    FileUtils.rm_rf(home)
    FileUtils.mkdir_p(["tmp/tested", home])
    env = { "GEM_HOME" => home, "GEM_PATH" => home, "PATH" => "#{@ruby}/bin:/usr/bin:/bin" }
    [%W[#{@ruby}/bin/gem install --local --no-document #{file}],
     %W[#{@ruby}/bin/ruby --yjit #{SMOKE} tmp/tested/smoke.json]].each do |command|
      system(env, *command, unsetenv_others: true) or raise "#{command.join(" ")} failed"
    end
  end

  # The settings for compiling for the platform.
  def tools
    rust = @platform.rust.tr("-", "_")
    sysroot = "--sysroot=/opt/#{SUITES.first}"
    { "CARGO_BUILD_TARGET" => @platform.rust, "RUBY_CC_VERSION" => rubies.keys.join(":"),
      "RUSTFLAGS" => "-C link-arg=#{sysroot}", "CFLAGS_#{rust}" => sysroot,
      "CC_#{rust}" => "#{@platform.gnu}-gcc",
      "BINDGEN_EXTRA_CLANG_ARGS" => "#{sysroot} --target=#{@platform.gnu}" }
  end

  def builder
    mounts = roots.to_h { |suite, root| [root.root, "/opt/#{suite}"] }
    mounts[@ruby] = "/opt/ruby" if @ruby
    @builder ||= self.class.tools(mounts:)
  end

  # By version: rbconfig.rb in the builder, and mkmf.rb out here.
  def rubies
    prefixes = roots.to_h { |suite, root| ["#{root.root}/usr", "/opt/#{suite}/usr"] }
    prefixes[@ruby] = "/opt/ruby" if @ruby
    @rubies ||= prefixes.to_h do |outside, inside|
      rbconfig = Dir["#{outside}/lib/{*/ruby,ruby}/3.*/{,*-linux/}rbconfig.rb"].first
      numbers = File.read(rbconfig).scan(/CONFIG\["(?:MAJOR|MINOR|TEENY)"\] = "(\d+)"/)
      [numbers.join("."), [rbconfig.sub(outside, inside),
                           Dir["#{outside}/lib/ruby/3.*/mkmf.rb"].first]]
    end
  end

  # rake-compiler finds other Rubies by a file in the home folder, and each Ruby's mkmf.rb above the
  # folder of its rbconfig.rb.
  def tell_rake_compiler
    config = rubies.map do |version, (rbconfig, mkmf)|
      folder = "/opt/rubies/#{@platform.name}/#{version}"
      write "#{folder}/mkmf.rb", File.read(mkmf)
      write "#{folder}/rbconfig/rbconfig.rb",
            "require \"#{rbconfig}\"\nRbConfig::CONFIG[\"CROSS_COMPILING\"] = \"yes\"\n"
      "rbconfig-#{@platform.name}-#{version}: #{folder}/rbconfig/rbconfig.rb\n"
    end
    write "/root/.rake-compiler/config.yml", config.join
  end

  def write(path, text)
    path = "#{builder.root}#{path}"
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text) unless File.exist?(path) && File.read(path) == text
  end
end
