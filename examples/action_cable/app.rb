# frozen_string_literal: true

require "logger"
require "action_controller/railtie"
require "action_cable/engine"

# The smallest Rails app with Action Cable.
class CableApp < Rails::Application
  config.load_defaults 6.1
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = "only an example"
  config.logger = Logger.new(IO::NULL)
  config.action_cable.mount_path = "/cable"
  config.action_cable.disable_request_forgery_protection = true
end

module ApplicationCable
  Connection = Class.new(ActionCable::Connection::Base)
end

# Echoes what a client sends.
class EchoChannel < ActionCable::Channel::Base
  def receive(data)
    transmit(data)
  end
end

# Broadcasts what a client sends.
class BroadcastChannel < ActionCable::Channel::Base
  def subscribed
    stream_from("news")
  end

  def receive(data)
    ActionCable.server.broadcast("news", data)
  end
end
