# frozen_string_literal: true

# examples/action_cable with the drop-in, unless WS_UNMASK_DISABLE is set.
ENV["RAILS_ENV"] = "production" # development answers 403 to the load generator's Host

require "ws_unmask/websocket_driver"
require_relative "../../../examples/action_cable/app"

# What it sends by itself, every three seconds, is no answer.
ActionCable::Server::Connections.redefine_method(:setup_heartbeat_timer) { nil }

CableApp.initialize!
run CableApp
