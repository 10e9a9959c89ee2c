# frozen_string_literal: true

require_relative "emulator"
require_relative "precompiled"

def precompiled(platform)
  ruby = YJIT_RUBY if platform == "x86_64-linux" && File.exist?("#{YJIT_RUBY}/.complete")
  Precompiled.new(platform, ruby:)
end

desc "Precompiled gems for x86_64-linux and aarch64-linux (or one), for several Rubies; as root"
task :precompiled, [:platform] do |_, arguments|
  (arguments.to_a.first ? arguments.to_a : Precompiled::PLATFORMS.map(&:name)).each do |platform|
    puts precompiled(platform).build
  end
end

desc "Installs the precompiled gems in pkg where there is no Rust, and uses them; as root"
task :smoke do
  Precompiled::PLATFORMS.each do |platform|
    next puts "rake smoke: there is no gem for #{platform.name}" unless
      File.exist?(precompiled(platform.name).file)
    next puts "rake smoke: no AArch64 emulator here, its gem is left out" unless
      platform.debian == "amd64" || Emulator.enable("aarch64")

    precompiled(platform.name).smoke
  end
end
