# frozen_string_literal: true

require_relative "docs_pages"
require_relative "ri_sources"

file "docs/architecture.svg" => "docs/architecture.dot" do |task|
  sh "dot", "-Tsvg", "-o", task.name, task.source
end

desc "Build API documentation and guides: doc/index.html, doc/ri, target/doc (the core)"
task docs: %w[docs/architecture.svg ruby_docs] do
  sh "cargo", "doc", "--no-deps", "--locked", "--features", "deflate"
end

# YARD needs redcarpet for the tables in Markdown. In .yardopts the integrations' inner modules come
# first. Otherwise YARD applies their private_constant :Frame to WsUnmask::Frame, and omits that.
task :ruby_docs do
  rm_rf "doc", verbose: false
  readme, *pages = DocsPages.new("tmp/pages", "doc").make
  sh "yard", "doc", "--quiet", "--no-cache", "--output-dir", "doc", "--title", "ws_unmask",
     "--readme", readme, "--files", pages.join(","), verbose: false
  sh "rdoc", "--quiet", "--ri", "--op", "doc/ri", RiSources.make("tmp/ri"), verbose: false
end

desc "Check that everything public is documented"
task :yard_stats do
  require "open3"
  output, = Open3.capture2e("yard", "stats", "--list-undoc", "--no-cache", "--no-save")
  puts output
  abort "yard: not everything is documented" unless output.include?("100.00% documented")
end
