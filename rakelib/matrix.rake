# frozen_string_literal: true

require_relative "debian_root"

# What bin/setup would install there, and what only that Debian has.
NEWER_LIBRARIES = %w[
  gcc libc6-dev make libclang-dev ruby ruby-dev bundler rake-compiler ruby-rspec ruby-rb-sys
  ruby-websocket-driver ruby-faye-websocket puma ruby-websocket ruby-em-websocket rubocop
  ruby-protocol-websocket ruby-async-websocket ruby-actioncable ruby-railties ruby-actionpack
  redis-server ruby-redis ruby-stackprof yard
].freeze

desc "The specs with Ruby 3.3 and newer libraries, in a Debian root made for it (or other tasks)"
task :matrix, [:tasks] do |_, arguments|
  suite = ENV.fetch("SUITE", "forky")
  DebianRoot.new(suite, suite:, packages: NEWER_LIBRARIES)
            .run("bundle exec rake --quiet #{arguments.fetch(:tasks, "spec")}")
end

# Debian's name, Rust's name.
TARGETS = { "arm64" => "aarch64", "s390x" => "s390x" }.freeze

desc "The core's tests for AArch64 (NEON) and s390x (big-endian), in an emulator"
task :cross do
  packages = TARGETS.flat_map do |debian, rust|
    ["libstd-rust-dev:#{debian}", "gcc-#{rust}-linux-gnu", "libc6-dev-#{debian}-cross"]
  end
  packages += %w[rustc cargo gcc libc6-dev qemu-user]
  root = DebianRoot.new("cross", suite: ENV.fetch("SUITE", "forky"), packages:,
                                 architectures: TARGETS.keys)
  TARGETS.each_value do |arch|
    target = "#{arch}-unknown-linux-gnu"
    name = target.upcase.tr("-", "_")
    env = { "CARGO_TARGET_#{name}_LINKER" => "#{arch}-linux-gnu-gcc",
            "CARGO_TARGET_#{name}_RUNNER" => "qemu-#{arch} -L /usr/#{arch}-linux-gnu",
            "PROPTEST_CASES" => "64" }
    root.run("cargo test --quiet --locked --target #{target} --lib " \
             "--test unmask --test decoder --test frame", env:, rust: false)
  end
end
