# frozen_string_literal: true

# A precompiled gem contains a binary for each Ruby that it supports. A gem compiled at installation
# has a single one, which may be in RubyGems' folder of extensions, where `require` finds it but
# `require_relative` does not.
binaries = ["ws_unmask/#{RUBY_VERSION[/\d+\.\d+/]}/ws_unmask", "ws_unmask/ws_unmask"]

loaded = binaries.any? do |binary|
  require binary
  true
rescue LoadError => e
  # If the binary is missing, the error names it. Otherwise, the error says why it does not load.
  raise unless e.path == binary
end

unless loaded
  root = File.expand_path("../..", __dir__)
  others = Dir.children(__dir__).grep(/\A\d+\.\d+\z/).sort_by { |ruby| Gem::Version.new(ruby) }
  what_to_do =
    if others.any?
      "this gem is precompiled for Ruby #{others.join(", ")}: install the source gem " \
        "(gem install ws_unmask --platform ruby)"
    elsif File.exist?("#{root}/Rakefile")
      "run `bundle exec rake compile` in #{root}"
    else
      "install the gem again (gem pristine ws_unmask)"
    end
  raise LoadError, "ws_unmask has no binary for Ruby #{RUBY_VERSION}: #{what_to_do}"
end
