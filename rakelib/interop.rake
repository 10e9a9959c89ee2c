# frozen_string_literal: true

desc "Test the servers with clients in other languages: 5 minutes with [short]"
task :interop, [:form] => :compile do |_, arguments|
  ruby "-Ilib", "interop/run.rb", *("--short" if arguments[:form] == "short")
end
