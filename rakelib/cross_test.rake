# frozen_string_literal: true

require_relative "debian_root"

# Debian's name, Rust's name.
TARGETS = { "arm64" => "aarch64", "s390x" => "s390x" }.freeze

def cross_root
  packages = TARGETS.flat_map do |debian, rust|
    ["libstd-rust-dev:#{debian}", "gcc-#{rust}-linux-gnu", "libc6-dev-#{debian}-cross"]
  end
  packages += %w[rustc cargo gcc libc6-dev qemu-user]
  DebianRoot.new("cross", suite: ENV.fetch("SUITE", "forky"), packages:,
                          architectures: TARGETS.keys)
end

desc "The core's tests for AArch64 (NEON) and s390x (big-endian), in an emulator"
task :cross_test do
  root = cross_root
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

task(:cross_root) { cross_root.make }
