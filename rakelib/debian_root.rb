# frozen_string_literal: true

require "rake"
require_relative "checkout"

# A Debian of another suite in a folder, with this checkout and this machine's crates. Needs root
# and mmdebstrap (on Debian: apt-get install mmdebstrap).
class DebianRoot
  include Rake::DSL

  # What packages do when they are installed, for roots whose packages are only unpacked.
  EXTRACTED = ["--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
               '--extract-hook=test -e "$1/bin/sh" || ln -s dash "$1/bin/sh"'].freeze
  private_constant :EXTRACTED

  # @param name [String] of the folder, under tmp/roots
  # @param packages [Array<String>] what is installed besides the essential
  # @param architectures [Array<String>] the first is its own, of others the packages are named
  #   "package:arch"
  # @param variant [String] mmdebstrap's. "extract" only unpacks packages, which is enough to run
  #   Ruby, and fast for another CPU
  # @param mounts [Hash{String => String}] folders of this machine, and where to mount them
  def initialize(name, suite:, packages:, architectures: ["amd64"], variant: "minbase", mounts: {})
    @suite = suite
    @packages = packages
    @architectures = architectures
    @variant = variant
    @mounts = mounts
    @root = File.expand_path("tmp/roots/#{name}")
  end

  # @return [String] its folder
  attr_reader :root

  # Runs a shell command in the checkout inside, as root.
  # @param env [Hash{String => String}]
  # @param rust [Boolean] whether this machine's Rust toolchain is mounted to /opt/rust
  def run(command, env: {}, rust: true)
    make
    Checkout.copy_to("#{@root}/ws_unmask")
    sh "cargo", "fetch", "--locked", "--quiet", verbose: false
    cargo = ENV.fetch("CARGO_HOME", File.join(Dir.home, ".cargo"))
    enter("cd /ws_unmask && #{command}", env,
          "CARGO" => cargo, "SYSROOT" => (`rustc --print sysroot`.chomp if rust),
          "SHARED" => File.expand_path("../shared"))
  end

  # Runs a shell command in it, as root. Nothing of this machine is visible but the mounts.
  # @param env [Hash{String => String}]
  def run_bare(command, env: {})
    make
    enter(command, env)
  end

  # Creates it, unless it exists. An expired index only means that the mirror is out of date, which
  # is fine here.
  def make
    return if File.exist?("#{@root}/etc/debian_version")

    puts "making a Debian #{@suite} (#{@architectures.first}) in #{@root}, which takes a minute"
    FileUtils.rm_rf(@root)
    FileUtils.mkdir_p(File.dirname(@root))
    sh "mmdebstrap", "--quiet", "--variant=#{@variant}",
       "--architectures=#{@architectures.join(",")}",
       *(EXTRACTED if @variant == "extract"),
       "--include=#{["ca-certificates", *@packages].join(",")}",
       '--aptopt=Acquire::Check-Valid-Until "false"', @suite, @root, verbose: false
  end

  private

  # In its own mount namespace, so that nothing stays mounted.
  def enter(command, env, mounted = {})
    script = <<~SH
      set -e
      mkdir -p "$ROOT/opt/rust" "$ROOT/opt/cargo" "$ROOT/proc" "$ROOT/sys" "$ROOT/root"
      if [ -n "$SYSROOT" ]; then mount --bind "$SYSROOT" "$ROOT/opt/rust"; fi
      if [ -n "$CARGO" ]; then mount --bind "$CARGO" "$ROOT/opt/cargo"; fi
      if [ -d "$SHARED" ]; then mkdir -p "$ROOT/shared"; mount --bind "$SHARED" "$ROOT/shared"; fi
      #{mount_commands}
      mount --rbind /dev "$ROOT/dev"
      mount --rbind /sys "$ROOT/sys"
      mount -t proc proc "$ROOT/proc"
      exec env -i HOME=/root LANG=C.UTF-8 PATH=/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
        CARGO_HOME=/opt/cargo CARGO_NET_OFFLINE=true "$@" \\
        chroot "$ROOT" sh -c "$COMMAND"
    SH
    settings = env.map { |name, value| "#{name}=#{value}" }
    sh({ "ROOT" => @root, "COMMAND" => command, **mounted },
       "unshare", "--mount", "sh", "-c", script, "sh", *settings, verbose: false)
  end

  def mount_commands
    @mounts.map do |outside, inside|
      "mkdir -p \"$ROOT#{inside}\" && mount --bind \"#{outside}\" \"$ROOT#{inside}\""
    end.join("\n")
  end
end
