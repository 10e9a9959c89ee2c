# frozen_string_literal: true

desc "One report of everything, in 5 minutes: docs/benchmarks/README.md and its charts"
task bench: :compile do
  ruby "-Ilib", "benches/everything.rb"
end

namespace :bench do
  desc "Article by article: decoders and masks in Ruby, step by step to native code"
  task ladder: :compile do
    ruby "-Ilib", "benches/ladder.rb"
  end

  desc "The Rust core against memcpy, its own paths and its competitors: tables, charts in docs/"
  task :core do
    sh "cargo", "bench", "--locked"
    cd "benches/competitors" do
      sh "cargo", "bench", "--locked"
      sh "cargo", "run", "--quiet", "--locked", "--release", "--", "../../docs/benchmarks"
    end
  end

  desc "What a call from Ruby costs, against websocket-driver's C extension and a String copy"
  task ruby: :compile do
    ruby "-Ilib", "benches/ruby_calls.rb"
  end

  desc "The libraries that have an integration, alone and with ws_unmask"
  task drop_in: :compile do
    ruby "-Ilib", "benches/drop_in.rb"
  end

  desc "Compressed messages, against Ruby's zlib and the gem permessage_deflate"
  task deflate: :compile do
    ruby "-Ilib", "benches/deflate.rb"
  end

  desc "Decoder and Frame, against websocket-driver, a String copy and plain Ruby"
  task decoder: :compile do
    ruby "-Ilib", "benches/ruby_decoder.rb"
  end

  desc "Echo servers over real sockets: CPU time for a message, in a minute"
  task echo: :compile do
    ruby "-Ilib", "benches/echo.rb"
  end
end
