# frozen_string_literal: true

require "bundler"
require "rubygems/package_task"

# `rake gem` packs the source gem; `rake native gem` a precompiled one for this platform, too.
Gem::PackageTask.new(Bundler.load_gemspec("ws_unmask.gemspec")).define

desc "With gem: build a precompiled gem for this platform, too"
task :native
