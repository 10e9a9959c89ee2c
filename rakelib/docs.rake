# frozen_string_literal: true

require_relative "docs_pages"

file "docs/architecture.svg" => "docs/architecture.dot" do |task|
  sh "dot", "-Tsvg", "-o", task.name, task.source
end

desc "API documentation and guides (doc/index.html), for ri (doc/ri), of the core (target/doc)"
task docs: %w[docs/architecture.svg ruby_docs] do
  sh "cargo", "doc", "--no-deps", "--locked", "--features", "deflate"
end

# YARD uses redcarpet for Markdown if it is installed; RDoc's engine does not know these tables. In
# .yardopts the integrations' inner modules come first: else YARD takes their private_constant
# :Frame for WsUnmask::Frame, and leaves that out.
task :ruby_docs do
  rm_rf "doc", verbose: false
  readme, *pages = DocsPages.new("tmp/pages", "doc").make
  sh "yard", "doc", "--quiet", "--no-cache", "--output-dir", "doc", "--title", "ws_unmask",
     "--readme", readme, "--files", pages.join(","), verbose: false
  sh "rdoc", "--quiet", "--ri", "--op", "doc/ri", "lib", verbose: false
end

desc "Fails if anything public is not documented"
task :yard_stats do
  require "open3"
  output, = Open3.capture2e("yard", "stats", "--list-undoc", "--no-cache", "--no-save")
  puts output
  abort "yard: not everything is documented" unless output.include?("100.00% documented")
end
