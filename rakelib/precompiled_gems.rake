# frozen_string_literal: true

require_relative "emulator"
require_relative "ruby_headers"
require_relative "precompiled"

# Also for Ruby 3.4, which has no Debian package: with the one of `rake yjit`, or its headers.
def precompiled(name)
  archive = Dir["#{File.dirname(RUBY_BUILDER)}/ruby-*.tar.xz"].first
  return Precompiled.new(name) unless archive
  return Precompiled.new(name, ruby: YJIT_RUBY) if
    name.start_with?(RbConfig::CONFIG["host_cpu"]) && File.exist?("#{YJIT_RUBY}/.complete")

  gem = Precompiled.new(name)
  Precompiled.new(name, ruby: RubyHeaders.new(archive, gem.platform, gem.roots.values.first).make)
end

desc "Build precompiled gems for x86_64-linux and aarch64-linux (or one of them); as root"
task :precompiled, [:platform] do |_, arguments|
  (arguments.to_a.first ? arguments.to_a : Precompiled::PLATFORMS.map(&:name)).each do |platform|
    puts precompiled(platform).build
  end
end

desc "Install the precompiled gems in pkg on systems without Rust, and use them; as root"
task :smoke do
  Precompiled::PLATFORMS.each do |platform|
    gem = precompiled(platform.name)
    next puts "rake smoke: there is no gem for #{platform.name}" unless File.exist?(gem.file)
    next puts "rake smoke: no AArch64 emulator here, its gem is skipped" unless
      platform.debian == "amd64" || Emulator.enable("aarch64")

    gem.smoke
  end
end
