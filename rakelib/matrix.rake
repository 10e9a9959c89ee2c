# frozen_string_literal: true

# The specs on another Debian, with another Ruby and newer libraries. Needs root and mmdebstrap
# (on Debian: apt-get install mmdebstrap).
class Matrix
  include Rake::DSL

  # What bin/setup would install there, and what only that Debian has.
  PACKAGES = %w[
    ca-certificates git gcc libc6-dev make libclang-dev ruby ruby-dev bundler rake-compiler
    ruby-rspec ruby-rb-sys ruby-websocket-driver ruby-faye-websocket puma ruby-websocket
    ruby-em-websocket rubocop ruby-protocol-websocket ruby-async-websocket ruby-actioncable
    ruby-railties ruby-actionpack redis-server ruby-redis ruby-stackprof yard
  ].freeze

  def initialize(suite)
    @suite = suite
    @root = File.expand_path("tmp/matrix/#{suite}")
  end

  def run(*tasks)
    make_root unless File.exist?("#{@root}/usr/bin/ruby")
    copy_checkout
    inside(tasks)
  end

  private

  # An expired index is that of a mirror which does not follow any more, and good enough here.
  def make_root
    puts "matrix: making a Debian #{@suite} in #{@root}, which takes a minute"
    FileUtils.rm_rf(@root)
    FileUtils.mkdir_p(File.dirname(@root))
    sh("mmdebstrap", "--quiet", "--variant=minbase",
       '--aptopt=Acquire::Check-Valid-Until "false"', "--include=#{PACKAGES.join(",")}",
       @suite, @root)
  end

  # As it is, but for what git ignores; what was built there before stays.
  def copy_checkout
    FileUtils.mkdir_p("#{@root}/ws_unmask")
    files = `git ls-files --cached --others --exclude-standard -z`.split("\0")
    wanted = files.select { |file| File.file?(file) }
    stale = Dir.chdir("#{@root}/ws_unmask") { Dir["{lib,spec,examples}/**/*.{rb,ru}"] } - wanted
    stale.each { |file| FileUtils.rm("#{@root}/ws_unmask/#{file}") }
    wanted.each do |file|
      target = "#{@root}/ws_unmask/#{file}"
      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.cp(file, target, preserve: true) unless
        File.exist?(target) && FileUtils.identical?(file, target)
    end
  end

  # In a mount namespace of its own, so that nothing stays mounted, whatever happens. The crates
  # are those that cargo has fetched for this machine.
  def inside(tasks)
    sh("cargo", "fetch", "--locked", "--quiet")
    sysroot = `rustc --print sysroot`.chomp
    cargo_home = ENV.fetch("CARGO_HOME", File.join(Dir.home, ".cargo"))
    script = <<~SH
      set -e
      mkdir -p "$ROOT/opt/rust" "$ROOT/opt/cargo"
      mount --bind "$SYSROOT" "$ROOT/opt/rust"
      mount --bind "$CARGO" "$ROOT/opt/cargo"
      mount --rbind /dev "$ROOT/dev"
      mount --rbind /sys "$ROOT/sys"
      mount -t proc proc "$ROOT/proc"
      exec env -i HOME=/root LANG=C.UTF-8 PATH=/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
        CARGO_HOME=/opt/cargo CARGO_NET_OFFLINE=true \\
        chroot "$ROOT" sh -c 'cd /ws_unmask && bundle exec rake --quiet "$@"' rake "$@"
    SH
    sh({ "ROOT" => @root, "SYSROOT" => sysroot, "CARGO" => cargo_home },
       "unshare", "--mount", "sh", "-c", script, "sh", *tasks, verbose: false)
  end
end

desc "The specs with Ruby 3.3 and newer libraries, in a Debian root made for it (or other tasks)"
task :matrix, [:tasks] do |_, arguments|
  Matrix.new(ENV.fetch("SUITE", "forky")).run(*arguments.fetch(:tasks, "spec").split)
end
