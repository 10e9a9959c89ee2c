# frozen_string_literal: true

# A Rails app with Action Cable. The first require is all that ws_unmask needs.
#
#   RAILS_ENV=production bundle exec puma -b tcp://127.0.0.1:9292 examples/action_cable/config.ru
require "ws_unmask/websocket_driver"
require_relative "app"
require_relative "compression" if ENV["CABLE_COMPRESSION"] == "1"

CableApp.initialize!
run CableApp
