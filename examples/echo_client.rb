# frozen_string_literal: true

# A client that echoes what a server sends. Run as a program, it takes the cases of
# Autobahn|Testsuite's fuzzing server.
#
#   ruby -Ilib examples/echo_client.rb ws://127.0.0.1:9001
require "io/wait"
require "socket"
require "uri"
require "ws_unmask"

# One connection, from the request to its end.
module EchoClient
  READ_SIZE = 64 * 1024
  PATIENCE_SECONDS = 2

  # Yields each text and binary message before it is echoed.
  def self.run(url)
    connection = WsUnmask::Connection.client(url, deflate: true)
    socket = TCPSocket.new(URI(url).host, URI(url).port)
    socket.setsockopt(:TCP, :NODELAY, true)
    connection.flush { |bytes| socket.write(bytes) }
    until connection.closed?
      connection.receive(socket.readpartial(READ_SIZE)) do |type, payload|
        next unless %i[text binary].include?(type)

        yield payload if block_given?
        connection.public_send(type, payload)
      end
      connection.flush { |bytes| socket.write(bytes) }
    end
    # Lets the server close the TCP connection first (RFC 6455, section 7.1.1).
    while socket.wait_readable(PATIENCE_SECONDS)
      break unless socket.read_nonblock(READ_SIZE, exception: false)
    end
  rescue EOFError, SystemCallError
    nil # the server has gone
  ensure
    socket&.close
  end
end

if $PROGRAM_NAME == __FILE__
  url = ARGV.fetch(0)
  count = 0
  EchoClient.run("#{url}/getCaseCount") { |payload| count = Integer(payload) }
  (1..count).each { |number| EchoClient.run("#{url}/runCase?case=#{number}&agent=client") }
  EchoClient.run("#{url}/updateReports?agent=client")
end
