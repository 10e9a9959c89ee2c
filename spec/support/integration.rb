# frozen_string_literal: true

require_relative "../../examples/client"
require_relative "../../examples/server"
