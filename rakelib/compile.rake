# frozen_string_literal: true

require "bundler"
require "rb_sys/extensiontask"

# `rake compile` builds the extension into lib/ws_unmask.
RbSys::ExtensionTask.new("ws_unmask", Bundler.load_gemspec("ws_unmask.gemspec")) do |extension|
  extension.lib_dir = "lib/ws_unmask"
end
