# frozen_string_literal: true

require "bundler"
require "rb_sys/extensiontask"

# Older versions of RubyGems install gems for musl on glibc.
def require_rubygems_that_knows_musl(gemspec)
  return unless gemspec.platform.to_s.end_with?("musl")

  gemspec.required_rubygems_version = ">= 3.3.22"
end

# Strips the binaries of precompiled gems.
ENV["CARGO_PROFILE_RELEASE_STRIP"] ||= "symbols" if ENV.key?("RUBY_CC_VERSION")

# `rake compile` builds the extension into lib/ws_unmask. The platforms are for precompiled gems:
# .github/workflows/release.yml builds all of them in containers, `rake precompiled` those for Linux
# in Debian roots.
RbSys::ExtensionTask.new("ws_unmask", Bundler.load_gemspec("ws_unmask.gemspec")) do |extension|
  extension.lib_dir = "lib/ws_unmask"
  extension.cross_compile = true
  extension.cross_platform = %w[
    x86_64-linux x86_64-linux-musl aarch64-linux aarch64-linux-musl x86_64-darwin arm64-darwin
    x64-mingw-ucrt aarch64-mingw-ucrt
  ]
  extension.cross_compiling { |gemspec| require_rubygems_that_knows_musl(gemspec) }
end
