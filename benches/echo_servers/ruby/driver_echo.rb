# frozen_string_literal: true

# An echo server of websocket-driver on nio4r: ruby driver_echo.rb PORT
require "nio"
require "websocket/driver"

# The connection that the driver writes to.
Peer = Struct.new(:socket) do
  def write(bytes) = socket.write(bytes)
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0)))
server.setsockopt(:TCP, :NODELAY, true)
selector = NIO::Selector.new
selector.register(server, :r)
buffer = String.new(capacity: 64 * 1024)

loop do
  selector.select do |monitor|
    if monitor.io == server
      socket = server.accept
      driver = WebSocket::Driver.server(Peer.new(socket))
      driver.on(:connect) { driver.start }
      driver.on(:message) { |event| driver.text(event.data) }
      selector.register(socket, :r).value = driver
    else
      begin
        monitor.value.parse(monitor.io.readpartial(64 * 1024, buffer))
      rescue EOFError, SystemCallError
        monitor.close
        monitor.io.close
      end
    end
  end
end
