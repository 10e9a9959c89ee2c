# frozen_string_literal: true

require "rspec/core/rake_task"

RSpec::Core::RakeTask.new(spec: :compile)

desc "Tests of the Rust core: unit, property and documentation tests"
task :cargo_test do
  sh "cargo", "test", "--locked"
  # Without the standard library: its use anywhere in the core would not compile.
  sh "cargo", "test", "--locked", "--no-default-features", "--test", "unmask"
end

desc "All tests"
task test: %i[cargo_test spec]
