# frozen_string_literal: true

# What it costs a server to send one message to 1,000 connections over real sockets, framed once or
# framed for each.
require "socket"
require "ws_unmask"

CONNECTIONS = 1000
ROUNDS = 9
REQUEST = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" \
          "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"

# A server's end, and the client's socket.
Peer = Struct.new(:connection, :socket, :client) do
  def flush = connection.flush { |bytes| socket.write_nonblock(bytes, exception: false) }

  def drain
    nil while client.read_nonblock(1 << 20, exception: false).is_a?(String)
  end
end

def peers(deflate)
  server = TCPServer.new("127.0.0.1", 0)
  Array.new(CONNECTIONS) do
    client = TCPSocket.new("127.0.0.1", server.addr[1])
    connection = WsUnmask::Connection.server(deflate:)
    connection.receive(REQUEST)
    Peer.new(connection, server.accept, client).tap do |peer|
      peer.flush
      peer.drain
    end
  end
ensure
  server.close
end

# The least of the rounds: CPU milliseconds for all connections.
def measure(peers)
  Array.new(ROUNDS) do
    GC.start
    start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    yield
    raise "not all was written" unless peers.all?(&:flush)

    took = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
    peers.each(&:drain)
    took * 1000
  end.min
end

Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
puts "#{RUBY_DESCRIPTION}: CPU time to send a message to #{CONNECTIONS} connections, in ms", ""
puts format("%-32s %12s %12s %14s", "", "framed once", "text each", "written only")
{ "plain" => nil, "with compression agreed on" => true }.each do |title, deflate|
  peers = peers(deflate)
  [64, 1024, 16_384].each do |size|
    text = "Hello, 你好世界! ".ljust(size, "abc ").byteslice(0, size)
    frame = WsUnmask::Frame.encode(:text, text)
    once = measure(peers) do
      message = WsUnmask::Frame.encode(:text, text)
      peers.each { |peer| peer.connection.frame(message) }
    end
    each = measure(peers) { peers.each { |peer| peer.connection.text(text) } }
    written = measure(peers) { peers.each { |peer| peer.socket.write_nonblock(frame) } }
    puts format("%-32s %12.2f %12.2f %14.2f", "#{title}, #{size} B", once, each, written)
  end
  peers.each { |peer| [peer.socket, peer.client].each(&:close) }
end
