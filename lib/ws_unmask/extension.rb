# frozen_string_literal: true

# A precompiled gem carries one binary for each Ruby it supports; one that was compiled at
# installation has a single binary.
begin
  require_relative "#{RUBY_VERSION[/\d+\.\d+/]}/ws_unmask"
rescue LoadError
  require_relative "ws_unmask"
end
