# frozen_string_literal: true

require_relative "integrations/websocket_client_simple"
