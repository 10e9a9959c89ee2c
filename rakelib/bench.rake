# frozen_string_literal: true

desc "All benchmarks in one report with charts, in tmp/benchmarks: 11 minutes"
task bench: :compile do
  ruby "-Ilib", "benches/everything.rb"
end

namespace :bench do
  desc "The same, in docs/benchmarks; refuses if the machine is too noisy"
  task update: :compile do
    ruby "-Ilib", "benches/everything.rb", "--update"
  end

  desc "Draws the charts of docs/benchmarks again from their figures"
  task :charts do
    ruby "benches/support/chart.rb", "docs/benchmarks"
  end

  desc "Decoders and masks, step by step from plain Ruby to native code, with charts"
  task ladder: :compile do
    ruby "-Ilib", "benches/ladder.rb"
  end

  desc "The Rust core against memcpy, its own paths and other libraries, with charts: 8 minutes"
  task :core do
    sh "cargo", "bench", "--locked"
    cd "benches/competitors" do
      sh "cargo", "bench", "--locked"
      sh "cargo", "run", "--quiet", "--locked", "--release", "--", "../../tmp/benchmarks"
    end
    ruby "benches/support/chart.rb"
  end

  desc "What a call from Ruby costs, against websocket-driver's C extension and a String copy"
  task ruby: :compile do
    ruby "-Ilib", "benches/ruby_calls.rb"
  end

  desc "Each library that has an integration, without ws_unmask and with it"
  task drop_in: :compile do
    ruby "-Ilib", "benches/drop_in.rb"
  end

  desc "Compressed messages, against Ruby's zlib and the gem permessage_deflate"
  task deflate: :compile do
    ruby "-Ilib", "benches/deflate.rb"
  end

  desc "What compression costs an app with Action Cable: 400 connections that chat"
  task cable_compression: :compile do
    ruby "-Ilib", "benches/cable_compression.rb"
  end

  desc "Decoder and Frame, against websocket-driver, a String copy and plain Ruby"
  task decoder: :compile do
    ruby "-Ilib", "benches/ruby_decoder.rb"
  end

  desc "CPU time of a Rails app for a message, without ws_unmask and with it: half a minute"
  task action_cable: :compile do
    ruby "-Ilib", "benches/action_cable.rb"
  end

  desc "CPU time of echo servers for a message, ours and others', over real sockets: 5 minutes"
  task :echo, [:pattern] => :compile do |_, arguments|
    ruby "-Ilib", "benches/echo.rb", arguments.fetch(:pattern, "")
  end

  desc "Memory of servers for each of 10,000 idle connections"
  task idle: :compile do
    ruby "-Ilib", "benches/idle.rb"
  end

  desc "One message to 1,000 connections, framed once and framed for each"
  task broadcast: :compile do
    ruby "-Ilib", "benches/broadcast.rb"
  end
end
