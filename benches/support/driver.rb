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

  # @return [WebSocket::Driver] a client's, open, with a listener for messages
  def self.open_client
    socket = new
    driver = WebSocket::Driver.client(socket)
    driver.on(:message, &:data)
    driver.start
    key = socket.written[/Sec-WebSocket-Key: (\S+)/, 1]
    driver.parse("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
                 "Connection: Upgrade\r\nSec-WebSocket-Accept: " \
                 "#{WebSocket::Driver::Hybi.generate_accept(key)}\r\n\r\n".b)
    driver
  end

  # @return [String, nil] what was written last
  attr_reader :written

  def initialize
    @env = { "REQUEST_METHOD" => "GET", "HTTP_CONNECTION" => "Upgrade",
             "HTTP_UPGRADE" => "websocket", "HTTP_SEC_WEBSOCKET_VERSION" => "13",
             "HTTP_SEC_WEBSOCKET_KEY" => "x" * 24 }
  end

  def url = "ws://localhost/"

  def write(bytes)
    @written = bytes
    bytes.bytesize
  end
end
