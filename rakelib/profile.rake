# frozen_string_literal: true

desc "Profile a SCRIPT with and without ws_unmask, side by side, with flame graphs"
task :profile, %i[script integration] => :compile do |_, arguments|
  ruby "-Ilib", "benches/profile.rb", *arguments.to_a
end

desc "A flame graph of the echo server on nio4r, by perf, in docs/benchmarks"
task "profile:echo" => :compile do
  ruby "-Ilib", "benches/echo_flame.rb"
end
