# frozen_string_literal: true

# The specs that need only the extension, and no other library.
EXTENSION_SPECS = %w[masking decoder frame].map { |name| "spec/#{name}_spec.rb" }.freeze

desc "Run the specs"
task spec: :compile do
  sh({ "WS_UNMASK_TESTED" => "tmp/tested" }, "rspec", verbose: false)
end

desc "Run the extension's specs with a garbage collection and compaction at every allocation"
task gc_stress: :compile do
  sh({ "GC_STRESS" => "1" }, "rspec", *EXTENSION_SPECS)
end

desc "Run the Rust core's unit tests, property tests and documentation tests"
task :cargo_test do
  sh "cargo", "test", "--locked", "--features", "deflate"
  # Without the standard library, so that the core does not compile if it uses that.
  sh "cargo", "test", "--locked", "--no-default-features", "--test", "unmask"
end

desc "Run all tests"
task test: %i[cargo_test spec]
