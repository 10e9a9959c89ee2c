# frozen_string_literal: true

require "json"

# Written by runs in this checkout, with the Ruby built for YJIT, and in Debian roots.
TESTED = "{.,tmp/yjit/ws_unmask,tmp/roots/*/ws_unmask}/tmp/tested/*.json"
TESTED_GEMS = %w[websocket-driver protocol-websocket websocket em-websocket faye-websocket
                 actioncable async-websocket puma].freeze

desc "Print a table of the Rubies, CPUs and libraries that the specs have passed with"
task :tested do
  runs = Dir[TESTED].map { |file| JSON.parse(File.read(file)) }
  smoke, specs = runs.partition { |run| run["smoke"] }
  puts "| Ruby | CPU | specs | #{TESTED_GEMS.join(" | ")} | precompiled gem |",
       "| --- | --- | --: |#{" --- |" * TESTED_GEMS.size} --- |"
  keys = runs.map { |run| run.values_at("ruby", "jit", "cpu") }.uniq { |ruby, _, cpu| [ruby, cpu] }
  keys.sort_by { |ruby, _, cpu| [cpu == "x86_64" ? 0 : 1, Gem::Version.new(ruby)] }
      .each do |ruby, _, cpu|
    run = specs.find { |it| it.values_at("ruby", "cpu") == [ruby, cpu] } || { "gems" => {} }
    tried = smoke.any? { |it| it.values_at("ruby", "cpu") == [ruby, cpu] }
    cells = ["#{ruby}#{" with YJIT" if run["jit"]}", cpu, run["examples"],
             *run["gems"].values_at(*TESTED_GEMS), ("installed, used" if tried)]
    puts "| #{cells.join(" | ")} |"
  end
end
