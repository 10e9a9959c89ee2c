# frozen_string_literal: true

require "rake"
require_relative "checkout"

# A Debian of another suite in a folder, with this checkout and this machine's crates in it. Needs
# root and mmdebstrap (on Debian: apt-get install mmdebstrap).
class DebianRoot
  include Rake::DSL

  # @param name [String] of the folder, under tmp/roots
  # @param packages [Array<String>] what is installed besides the essential
  # @param architectures [Array<String>] foreign ones, whose packages are named "package:arch"
  def initialize(name, suite:, packages:, architectures: [])
    @suite = suite
    @packages = packages
    @architectures = ["amd64", *architectures]
    @root = File.expand_path("tmp/roots/#{name}")
  end

  # Runs a shell command in the checkout inside, as root.
  # @param env [Hash{String => String}]
  # @param rust [Boolean] whether this machine's Rust toolchain is mounted to /opt/rust
  def run(command, env: {}, rust: true)
    make
    Checkout.copy_to("#{@root}/ws_unmask")
    sh "cargo", "fetch", "--locked", "--quiet", verbose: false
    enter(command, env, rust)
  end

  # Makes it, unless it is there. An expired index is that of a mirror which does not follow any
  # more, and good enough here.
  def make
    return if File.exist?("#{@root}/etc/debian_version")

    puts "making a Debian #{@suite} in #{@root}, which takes a minute"
    FileUtils.rm_rf(@root)
    FileUtils.mkdir_p(File.dirname(@root))
    sh "mmdebstrap", "--quiet", "--variant=minbase",
       "--architectures=#{@architectures.join(",")}",
       "--include=#{["ca-certificates", "git", *@packages].join(",")}",
       '--aptopt=Acquire::Check-Valid-Until "false"', @suite, @root, verbose: false
  end

  private

  # In a mount namespace of its own, so that nothing stays mounted, whatever happens.
  def enter(command, env, rust)
    script = <<~SH
      set -e
      mkdir -p "$ROOT/opt/rust" "$ROOT/opt/cargo"
      if [ -n "$SYSROOT" ]; then mount --bind "$SYSROOT" "$ROOT/opt/rust"; fi
      mount --bind "$CARGO" "$ROOT/opt/cargo"
      if [ -d "$SHARED" ]; then mkdir -p "$ROOT/shared"; mount --bind "$SHARED" "$ROOT/shared"; fi
      mount --rbind /dev "$ROOT/dev"
      mount --rbind /sys "$ROOT/sys"
      mount -t proc proc "$ROOT/proc"
      exec env -i HOME=/root LANG=C.UTF-8 PATH=/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
        CARGO_HOME=/opt/cargo CARGO_NET_OFFLINE=true "$@" \\
        chroot "$ROOT" sh -c "cd /ws_unmask && $COMMAND"
    SH
    mounts = { "ROOT" => @root, "COMMAND" => command, "SHARED" => File.expand_path("../shared"),
               "SYSROOT" => (`rustc --print sysroot`.chomp if rust),
               "CARGO" => ENV.fetch("CARGO_HOME", File.join(Dir.home, ".cargo")) }
    sh mounts, "unshare", "--mount", "sh", "-c", script, "sh",
       *env.map { |name, value| "#{name}=#{value}" }, verbose: false
  end
end
