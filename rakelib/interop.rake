# frozen_string_literal: true

desc "Clients of other languages against the servers: all sizes, or in 5 minutes with [short]"
task :interop, [:form] => :compile do |_, arguments|
  ruby "-Ilib", "interop/run.rb", *("--short" if arguments[:form] == "short")
end
