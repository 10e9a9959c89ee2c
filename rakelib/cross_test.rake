# frozen_string_literal: true

require_relative "emulator"
require_relative "precompiled"

desc "Run the core's tests for AArch64 (NEON) and s390x (big-endian), in an emulator"
task :cross_core do
  root = Precompiled.tools
  Precompiled::CPUS.each_value do |arch|
    target = "#{arch}-unknown-linux-gnu"
    name = target.upcase.tr("-", "_")
    env = { "CARGO_TARGET_#{name}_LINKER" => "#{arch}-linux-gnu-gcc",
            "CARGO_TARGET_#{name}_RUNNER" => "qemu-#{arch} -L /usr/#{arch}-linux-gnu",
            "PROPTEST_CASES" => "64" }
    root.run("cargo test --quiet --locked --target #{target} --lib " \
             "--test unmask --test decoder --test frame", env:, rust: false)
  end
end

task(:cross_root) { Precompiled.tools.make }

# Specs that need neither the commands of this checkout nor a compiler, as Midori does.
EMULATED_SPECS = %w[masking decoder frame encoder deflate connection patch_set version
                    integrations/em_websocket integrations/permessage_deflate
                    integrations/protocol_websocket integrations/websocket
                    integrations/websocket_client_simple integrations/websocket_driver
                    integrations/*/*].freeze

desc "Cross-compile the gem for AArch64, and run its specs in an emulator"
task :cross_gem do
  for_aarch64 = precompiled("aarch64-linux")
  gem = for_aarch64.build
  next puts "rake cross_gem: no AArch64 emulator here, specs skipped" unless
    Emulator.enable("aarch64")

  root = for_aarch64.roots.fetch("forky")
  Checkout.copy_to("#{root.root}/ws_unmask")
  sh "tar -xOf #{gem} data.tar.gz | tar -xzf - -C #{root.root}/ws_unmask --wildcards " \
     "'lib/ws_unmask/3.*/*'", verbose: false
  File.write("#{root.root}/etc/hosts", "127.0.0.1 localhost\n")
  specs = EMULATED_SPECS.map { |name| "spec/#{name}_spec.rb" }.join(" ")
  # The emulator does not limit memory.
  root.run_bare("cd /ws_unmask && rspec --tag ~limited_memory #{specs}",
                env: { "WS_UNMASK_TESTED" => "tmp/tested", "LESS_TRAFFIC" => "20" })
end

desc "Test the core and the gem on other CPUs, in an emulator"
task cross_test: %i[cross_core cross_gem]
