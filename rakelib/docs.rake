# frozen_string_literal: true

file "docs/architecture.svg" => "docs/architecture.dot" do |task|
  sh "dot", "-Tsvg", "-o", task.name, task.source
end

desc "The API documentation (doc/), and docs/architecture.svg (by graphviz's dot)"
task docs: "docs/architecture.svg" do
  sh "yard", "doc", "--quiet", "--output-dir", "doc"
  sh "cargo", "doc", "--no-deps", "--locked", "--features", "deflate"
end

desc "Fails if anything public is not documented"
task :yard_stats do
  require "open3"
  output, = Open3.capture2e("yard", "stats", "--list-undoc", "--no-cache", "--no-save")
  puts output
  abort "yard: not everything is documented" unless output.include?("100.00% documented")
end
