# frozen_string_literal: true

# examples/echo.ru with Nagle's algorithm on.
rackup = File.expand_path("../examples/echo.ru", __dir__)
instance_eval(File.read(rackup).sub(":NODELAY, true", ":NODELAY, false"), rackup)
