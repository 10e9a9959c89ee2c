# frozen_string_literal: true

# The specs of the extension, which need no other library.
EXTENSION_SPECS = %w[masking decoder frame].map { |name| "spec/#{name}_spec.rb" }.freeze

desc "The specs"
task spec: :compile do
  sh({ "WS_UNMASK_TESTED" => "tmp/tested" }, "rspec", verbose: false)
end

desc "The extension's specs under GC stress: every allocation collects garbage and moves objects"
task gc_stress: :compile do
  sh({ "GC_STRESS" => "1" }, "rspec", *EXTENSION_SPECS)
end

desc "The Rust core's unit tests, property tests and documentation tests"
task :cargo_test do
  sh "cargo", "test", "--locked", "--features", "deflate"
  # Without the standard library, so that using it in the core fails to compile.
  sh "cargo", "test", "--locked", "--no-default-features", "--test", "unmask"
end

desc "All tests"
task test: %i[cargo_test spec]
