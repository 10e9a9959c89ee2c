# frozen_string_literal: true

desc "Run all benchmarks; report and charts go to tmp/benchmarks: 11 minutes"
task bench: :compile do
  ruby "-Ilib", "benches/everything.rb"
end

namespace :bench do
  desc "Run all benchmarks and update docs/benchmarks; refuses on a noisy machine"
  task update: :compile do
    ruby "-Ilib", "benches/everything.rb", "--update"
  end

  desc "Redraw the charts of docs/benchmarks from their figures"
  task :charts do
    ruby "benches/support/chart.rb", "docs/benchmarks"
  end

  desc "Benchmark decoders and masks, step by step from plain Ruby to native code, with charts"
  task ladder: :compile do
    ruby "-Ilib", "benches/ladder.rb"
  end

  desc "Benchmark the Rust core against memcpy and other libraries, with charts: 8 minutes"
  task :core do
    sh "cargo", "bench", "--locked"
    cd "benches/competitors" do
      sh "cargo", "bench", "--locked"
      sh "cargo", "run", "--quiet", "--locked", "--release", "--", "../../tmp/benchmarks"
    end
    ruby "benches/support/chart.rb"
  end

  desc "Benchmark a call from Ruby against websocket-driver's C extension and a String copy"
  task ruby: :compile do
    ruby "-Ilib", "benches/ruby_calls.rb"
  end

  desc "Benchmark each library that has an integration, with and without ws_unmask"
  task drop_in: :compile do
    ruby "-Ilib", "benches/drop_in.rb"
  end

  desc "Benchmark compressed messages against Ruby's zlib and the gem permessage_deflate"
  task deflate: :compile do
    ruby "-Ilib", "benches/deflate.rb"
  end

  desc "Measure what compression costs a Rails app with 400 connections that chat"
  task cable_compression: :compile do
    ruby "-Ilib", "benches/cable_compression.rb"
  end

  desc "Benchmark Decoder and Frame against websocket-driver, a String copy and plain Ruby"
  task decoder: :compile do
    ruby "-Ilib", "benches/ruby_decoder.rb"
  end

  desc "Measure CPU time per message of a Rails app, with and without ws_unmask: half a minute"
  task action_cable: :compile do
    ruby "-Ilib", "benches/action_cable.rb"
  end

  desc "Measure CPU time per message of echo servers, ours and others: 5 minutes"
  task :echo, [:pattern] => :compile do |_, arguments|
    ruby "-Ilib", "benches/echo.rb", arguments.fetch(:pattern, "")
  end

  desc "Measure the memory of each of 10,000 idle connections"
  task idle: :compile do
    ruby "-Ilib", "benches/idle.rb"
  end

  desc "Benchmark a message to 1,000 connections, framed once and framed for each"
  task broadcast: :compile do
    ruby "-Ilib", "benches/broadcast.rb"
  end
end
