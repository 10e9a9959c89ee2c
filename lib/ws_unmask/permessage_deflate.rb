# frozen_string_literal: true

require_relative "integrations/permessage_deflate"
