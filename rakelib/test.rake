# frozen_string_literal: true

# What runs the code in Rust and needs no other library.
EXTENSION_SPECS = %w[masking decoder frame].map { |name| "spec/#{name}_spec.rb" }.freeze

desc "The specs"
task spec: :compile do
  sh "rspec", verbose: false
end

desc "The extension's specs while every allocation collects garbage and moves objects"
task gc_stress: :compile do
  sh({ "GC_STRESS" => "1" }, "rspec", *EXTENSION_SPECS)
end

desc "Tests of the Rust core: unit, property and documentation tests"
task :cargo_test do
  sh "cargo", "test", "--locked", "--features", "deflate"
  # Without the standard library: its use anywhere in the core would not compile.
  sh "cargo", "test", "--locked", "--no-default-features", "--test", "unmask"
end

desc "All tests"
task test: %i[cargo_test spec]
