# frozen_string_literal: true

require "bundler"
require_relative "checkout"
require_relative "debian_gems"

# Builds a Ruby with YJIT: `build DIR [GEM...]`, with gems that have extensions.
RUBY_BUILDER = File.expand_path("../shared/ruby/build")
YJIT_GEMS = %w[websocket-driver-0.8.0 nio4r-2.7.4 puma-8.0.2 permessage_deflate-0.1.4
               event_emitter-0.2.6 websocket-client-simple-0.9.0 iodine-0.7.59].freeze
YJIT_RUBY = File.expand_path("tmp/ruby-3.4")
YJIT_CHECKOUT = File.expand_path("tmp/yjit/ws_unmask")
# The specs that need a gem of the Gemfile.
NEED_GEM = {
  "http_parser.rb" => ["em-websocket", "spec/{integrations/em_websocket,signatures}_spec.rb"],
  "redcarpet" => ["redcarpet", "spec/docs_spec.rb"],
  "stackprof" => ["stackprof", "spec/profile_spec.rb"]
}.freeze

def yjit_gems
  DebianGems.new(File.expand_path("tmp/roots/forky"), YJIT_RUBY, "#{YJIT_RUBY}/debian")
end

def yjit_env
  own = Dir["#{YJIT_RUBY}/lib/ruby/gems/*"].first
  { "PATH" => "#{YJIT_RUBY}/bin:#{yjit_gems.bin}:#{ENV.fetch("PATH")}",
    "GEM_PATH" => "#{own}:#{yjit_gems.folder}",
    "RUBYOPT" => "--yjit", "RUBYLIB" => nil }
end

# All specs, except those that need a missing gem.
def yjit_spec_options
  left_out = NEED_GEM.slice(*yjit_gems.missing).values
  file = "#{YJIT_CHECKOUT}/Gemfile"
  gems = Regexp.union("rubocop", *left_out.map(&:first)) # and the lints run elsewhere
  lines = File.readlines(file).grep_v(/^gem "#{gems}"/)
  File.write(file, lines.join)
  return {} if left_out.empty?

  specs = left_out.map(&:last)
  puts "rake yjit: gems missing, skipped #{specs.join(", ")}"
  { "SPEC_OPTS" => "--exclude-pattern #{specs.join(",")}" }
end

task yjit_ruby: :matrix_root do
  Bundler.with_unbundled_env do
    sh RUBY_BUILDER, YJIT_RUBY, *YJIT_GEMS, verbose: false
    yjit_gems.install
  end
end

desc "Run the specs (or other tasks) with Ruby 3.4 and YJIT; needs ../shared/ruby"
task :yjit, [:tasks] do |_, arguments|
  next puts "rake yjit: skipped, there is no #{RUBY_BUILDER}" unless File.exist?(RUBY_BUILDER)

  Rake::Task[:yjit_ruby].invoke
  Checkout.copy_to(YJIT_CHECKOUT)
  Bundler.with_unbundled_env do
    sh yjit_env.merge(yjit_spec_options),
       "#{YJIT_RUBY}/bin/ruby", "-S", "bundle", "exec", "rake", "--quiet",
       *arguments.fetch(:tasks, "spec").split, chdir: YJIT_CHECKOUT, verbose: false
  end
end
