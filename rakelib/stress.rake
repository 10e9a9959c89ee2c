# frozen_string_literal: true

desc "Stress real servers with load, bad clients and restarts: 3 minutes, or 1 with [short]"
task :stress, [:form] => :compile do |_, arguments|
  ruby "-Ilib", "stress/run.rb", *("--short" if arguments[:form] == "short")
end

desc "Run the extension's specs under valgrind, which fails on invalid memory access"
task valgrind: :compile do
  # Ruby's garbage collector reads undefined values all the time.
  ruby_command = ["ruby", "-S", "bundle", "exec", "rspec", *EXTENSION_SPECS]
  sh "valgrind", "--quiet", "--error-exitcode=9", "--undef-value-errors=no",
     "--main-stacksize=8388608", "--suppressions=stress/valgrind.supp", *ruby_command
end
