# frozen_string_literal: true

desc "Real servers under chaos, load, bad clients and restarts: 3 minutes, or 1 with [short]"
task :stress, [:form] => :compile do |_, arguments|
  ruby "-Ilib", "stress/run.rb", *("--short" if arguments[:form] == "short")
end

desc "The extension's specs under valgrind, which must find no invalid access"
task valgrind: :compile do
  # Values that nobody has written are what Ruby's collector reads all the time.
  ruby_command = ["ruby", "-S", "bundle", "exec", "rspec", *EXTENSION_SPECS]
  sh "valgrind", "--quiet", "--error-exitcode=9", "--undef-value-errors=no",
     "--main-stacksize=8388608", "--suppressions=stress/valgrind.supp", *ruby_command
end
