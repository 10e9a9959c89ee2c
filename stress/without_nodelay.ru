# frozen_string_literal: true

# examples/echo.ru as it would be if it left Nagle's algorithm on.
module NagleOn
  def accept(key)
    super
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 0)
  end
end

rackup = File.expand_path("../examples/echo.ru", __dir__)
instance_eval(File.read(rackup).sub(/^run\(/, "EchoConnection.prepend(NagleOn)\nrun("), rackup)
