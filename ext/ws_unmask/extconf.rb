# frozen_string_literal: true

require "mkmf"

# Checks for the tools that the build needs. Without this, the build would fail with pages of output
# that do not say what is missing.
module Needed
  # The minimum version of Rust.
  RUST = File.read(File.expand_path("../../Cargo.toml", __dir__))[/^rust-version = "(.+)"/, 1]

  # Where Linux distributions install libclang and, in clang/VERSION/include, its headers. On other
  # systems, the build itself reports what is missing.
  LIBRARIES = %w[/usr/lib/llvm*/lib /usr/lib/llvm/*/lib* /usr/lib /usr/lib64 /usr/lib/*-linux-*
                 /usr/local/lib /usr/local/lib64 /usr/local/llvm*/lib*].freeze

  # What to do without libclang.
  INSTALL = "run `apt-get install libclang-dev` (Debian, Ubuntu), `dnf install clang-devel` " \
            "(Fedora) or `apk add clang-dev` (Alpine)"

  module_function

  # @return [String, nil] what is missing, and what to do
  def missing
    missing_rust || missing_libclang || missing_linker
  end

  # Announces the build, since RubyGems prints nothing until it has ended.
  def announce
    File.open("/dev/tty", "w") do |terminal|
      terminal.puts "ws_unmask: compiling with #{`cargo --version`.chomp}, which takes a minute"
    end
  rescue SystemCallError
    nil # no terminal
  end

  # @return [String, nil]
  def missing_rust
    unless find_executable("cargo")
      return "cargo not found. ws_unmask is compiled with Rust: install it from " \
             "https://rustup.rs, check that `cargo --version` works in this shell"
    end

    version = `cargo --version`[/\d+\.\d+(\.\d+)?/].to_s
    return if Gem::Version.new(version) >= Gem::Version.new(RUST)

    "ws_unmask needs Rust #{RUST} or later, and `cargo --version` says " \
      "#{version}: run `rustup update`, or install Rust from https://rustup.rs"
  end

  # bindgen reads Ruby's headers with it.
  # @return [String, nil]
  def missing_libclang
    return unless RUBY_PLATFORM.include?("linux")
    return if Gem::Specification.any? { |gem| gem.name == "libclang" }

    return "libclang not found#{searched}: #{INSTALL}" if in_folders("libclang{,-*}.so*").empty?
    return if ENV["BINDGEN_EXTRA_CLANG_ARGS"] || find_executable("clang")
    return if in_folders("clang/*/include/stddef.h").any?

    "libclang found, but not its headers (stddef.h)#{searched}: #{INSTALL}"
  end

  # make, and the C compiler, which links the extension. Cross-compiling uses other tools.
  # @return [String, nil]
  def missing_linker
    return if !RUBY_PLATFORM.include?("linux") || ENV.key?("RUBY_CC_VERSION")

    names = ["make", RbConfig::CONFIG["CC"].split.first].reject { |name| find_executable(name) }
    return if names.empty?

    "#{names.join(", ")} not found: run `apt-get install gcc libc6-dev make` (Debian, Ubuntu), " \
      "`dnf install gcc make` (Fedora) or `apk add build-base` (Alpine)"
  end

  # @return [Array<String>] the files there
  def in_folders(pattern)
    folders.flat_map { |folder| Dir.glob(File.join(folder, pattern)) }
  end

  # LIBCLANG_PATH names a folder or the library itself.
  def folders
    path = ENV.fetch("LIBCLANG_PATH", nil) or return LIBRARIES
    [File.directory?(path) ? path : File.dirname(path)]
  end

  # @return [String, nil] where, if LIBCLANG_PATH is set
  def searched
    " (LIBCLANG_PATH is #{ENV.fetch("LIBCLANG_PATH")})" if ENV.key?("LIBCLANG_PATH")
  end
end

missing = Needed.missing
abort "#{missing}, and install the gem again." if missing

Needed.announce

require "rb_sys/mkmf"

create_rust_makefile("ws_unmask/ws_unmask")
