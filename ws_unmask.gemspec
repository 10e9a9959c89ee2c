# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "ws_unmask"
  spec.version = File.read("#{__dir__}/Cargo.toml")[/^version = "(.+)"/, 1]
  spec.authors = ["The ws_unmask authors"]
  spec.summary = "Fast, safe WebSocket frames for Ruby: unmasks, checks and decodes (RFC 6455)"
  spec.description = "A safe Rust core with SIMD that unmasks, checks and decodes WebSocket " \
                     "messages. Speeds up Rails and Rack apps with one line in the Gemfile, and " \
                     "has a sans-IO connection for servers and clients of your own."
  spec.homepage = "https://github.com/ws-unmask/ws_unmask"
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = {
    "homepage_uri" => spec.homepage,
    "source_code_uri" => "#{spec.homepage}/tree/v#{spec.version}",
    "changelog_uri" => "#{spec.homepage}/blob/v#{spec.version}/CHANGELOG.md",
    "documentation_uri" => "#{spec.homepage}/blob/v#{spec.version}/README.md",
    "bug_tracker_uri" => "#{spec.homepage}/issues",
    "rubygems_mfa_required" => "true",
    "cargo_crate_name" => "ws_unmask"
  }

  spec.files = Dir[
    "exe/*", "lib/**/*.rb", "sig/**/*.rbs", "ext/**/*.{rs,rb,toml}",
    "crates/*/{Cargo.toml,README.md}", "crates/*/src/**/*.rs", "Cargo.{toml,lock}",
    "README.md", "CHANGELOG.md", "LICENSE", "LICENSE-THIRD-PARTY", ".yardopts",
    base: __dir__
  ]
  spec.bindir = "exe"
  spec.executables = ["ws_unmask"]
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/ws_unmask/extconf.rb"]

  spec.add_dependency "rb_sys", "~> 0.9.87"
end
