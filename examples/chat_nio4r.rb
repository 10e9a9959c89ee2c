# frozen_string_literal: true

# A chat server with ws_unmask on an event loop. It sends each message to all clients, framed once.
#
#   bundle exec ruby -Ilib examples/chat_nio4r.rb 9292
require "nio"
require "set"
require "ws_unmask"

MOST_UNREAD = 1024 * 1024 # bytes; a client that leaves more unread is dropped
PERIOD = 10 # seconds between pings
CLIENTS = Set.new
SILENT = Set.new # clients that have sent nothing since the last ping

def receive(monitor, connection = monitor.value)
  bytes = monitor.readable? ? monitor.io.read_nonblock(64 * 1024) : ""
  SILENT.delete(monitor) if connection.open?
  to_flush = [monitor]
  connection.receive(bytes) { |type, text| to_flush = send_to_all(type, text) if type == :text }
  to_flush.each { |client| flush(client) }
rescue IO::WaitReadable
  nil # there was nothing to read
rescue IOError, SystemCallError
  drop(monitor) # the client has gone
end

def send_to_all(type, payload)
  frame = WsUnmask::Frame.encode(type, payload)
  CLIENTS.each { |client| client.value.frame(frame) if client.value.open? }
end

def flush(monitor, connection = monitor.value)
  is_written = connection.flush { |bytes| monitor.io.write_nonblock(bytes, exception: false) }
  monitor.interests = is_written ? :r : :rw
  # Closing a socket that has unread bytes would reset the connection.
  monitor.io.close_write if is_written && connection.closed?
  drop(monitor) if connection.output.bytesize > MOST_UNREAD
rescue IOError, SystemCallError
  drop(monitor)
end

def drop(monitor)
  CLIENTS.delete(monitor)
  monitor.close
  monitor.io.close
end

def accept(listening, selector)
  monitor = selector.register(listening.io.accept_nonblock, :r)
  monitor.value = WsUnmask::Connection.server(max_message_size: 64 * 1024)
  CLIENTS << monitor
rescue IO::WaitReadable, Errno::ECONNABORTED
  nil # the client has gone
rescue Errno::EMFILE, Errno::ENFILE
  listening.interests = nil # clients wait in the backlog until the next ping
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 9292)))
server.setsockopt(:TCP, :NODELAY, true) # accepted sockets inherit it
selector = NIO::Selector.new
listening = selector.register(server, :r)
puts "listening on ws://127.0.0.1:#{server.local_address.ip_port}"
next_ping = Time.now
loop do
  selector.select(1) { |ready| ready == listening ? accept(ready, selector) : receive(ready) }
  next if Time.now < next_ping

  next_ping = Time.now + PERIOD
  listening.interests = :r
  # They have not replied to the last ping, or have not completed the handshake.
  SILENT.each { |client| drop(client) }
  SILENT.replace(CLIENTS)
  send_to_all(:ping, "").each { |client| flush(client) }
end
