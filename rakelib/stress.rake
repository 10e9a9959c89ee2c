# frozen_string_literal: true

desc "Real servers under chaos, load, bad clients and restarts: 3 minutes, or 1 with [short]"
task :stress, [:form] => :compile do |_, arguments|
  ruby "-Ilib", "stress/run.rb", *("--short" if arguments[:form] == "short")
end
