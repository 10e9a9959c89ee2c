# frozen_string_literal: true

require "websocket/driver"

# A connection for websocket-driver: an environment, and somewhere to write to.
class Connection
  attr_reader :env

  # @return [WebSocket::Driver] a server's, open, with a listener for messages
  def self.open_driver
    driver = WebSocket::Driver.rack(new)
    driver.on(:message, &:data)
    driver.start
    driver
  end

  def initialize
    @env = { "REQUEST_METHOD" => "GET", "HTTP_CONNECTION" => "Upgrade",
             "HTTP_UPGRADE" => "websocket", "HTTP_SEC_WEBSOCKET_VERSION" => "13",
             "HTTP_SEC_WEBSOCKET_KEY" => "x" * 24 }
  end

  def url = "ws://localhost/"

  def write(bytes) = bytes.bytesize
end
