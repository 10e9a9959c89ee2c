# frozen_string_literal: true

require_relative "integrations/em_websocket"
