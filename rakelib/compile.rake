# frozen_string_literal: true

require "bundler"
require "rb_sys/extensiontask"

# `rake compile` builds the extension into lib/ws_unmask. The platforms are those of the precompiled
# gems, which .github/workflows/release.yml makes in containers that have their compilers.
RbSys::ExtensionTask.new("ws_unmask", Bundler.load_gemspec("ws_unmask.gemspec")) do |extension|
  extension.lib_dir = "lib/ws_unmask"
  extension.cross_compile = true
  extension.cross_platform = %w[
    x86_64-linux x86_64-linux-musl aarch64-linux aarch64-linux-musl x86_64-darwin arm64-darwin
    x64-mingw-ucrt
  ]
end
