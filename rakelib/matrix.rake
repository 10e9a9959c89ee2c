# frozen_string_literal: true

require_relative "debian_root"

# What bin/setup would install there, and libraries that Debian 12 does not have.
NEWER_LIBRARIES = %w[
  git gcc libc6-dev make libclang-dev ruby ruby-dev bundler rake-compiler ruby-rspec ruby-rb-sys
  ruby-websocket-driver ruby-faye-websocket puma ruby-websocket ruby-em-websocket rubocop
  ruby-protocol-websocket ruby-async-websocket ruby-actioncable ruby-railties ruby-actionpack
  redis-server ruby-redis ruby-stackprof yard ruby-redcarpet
].freeze

def matrix_root
  suite = ENV.fetch("SUITE", "forky")
  DebianRoot.new(suite, suite:, packages: NEWER_LIBRARIES)
end

desc "Run the specs (or other tasks) with Ruby 3.3 and newer libraries, in a Debian root"
task :matrix, [:tasks] do |_, arguments|
  matrix_root.run("bundle exec rake --quiet #{arguments.fetch(:tasks, "spec")}")
end

task(:matrix_root) { matrix_root.make }

# The version that most Rails apps use.
desc "Run the websocket-driver specs with 0.7.7 or another version in ../shared/ruby/gems"
task :driver, [:version] => :compile do |_, arguments|
  version = arguments.fetch(:version, "0.7.7")
  unless File.exist?("../shared/ruby/gems/websocket-driver-#{version}.gem")
    next puts "websocket-driver #{version} is not in ../shared/ruby/gems: specs skipped"
  end

  sh({ "WEBSOCKET_DRIVER" => version }, "rspec", *Dir["spec/integrations/websocket_driver*"])
end
