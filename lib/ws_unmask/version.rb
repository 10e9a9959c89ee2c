# frozen_string_literal: true

module WsUnmask
  # The version of the gem and of its Rust core (semantic versioning).
  VERSION = "0.1.0"
end
