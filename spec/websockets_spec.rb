# frozen_string_literal: true

require "open3"
require "socket"

# Compressed messages to and from another implementation, over a socket: Python's websockets.
RSpec.describe "Python's websockets as a client of WsUnmask::Connection" do
  packages = File.expand_path("../tmp/python-websockets", __dir__)
  client = File.expand_path("support/websockets_client.py", __dir__)

  before(:context) do
    unless Dir.exist?(packages)
      output, status = Open3.capture2e("python3", "-m", "pip", "install", "--quiet",
                                       "--target", packages, "websockets==15.0.1")
      skip "websockets cannot be installed: #{output.lines.last}" unless status.success?
    end
  rescue Errno::ENOENT
    skip "Python is not installed"
  end

  def some_messages(random)
    Array.new(30) do
      case random.rand(5)
      when 0 then [:text, ""]
      when 1 then [:text, "grüß dich, " * random.rand(5000)]
      when 2 then [:binary, random.bytes(random.rand(5000))]
      when 3 then [:binary, "\0".b * random.rand(100_000)]
      else [:text, %({"user":#{random.rand(10)},"text":"message #{random.rand(1000)}"})]
      end
    end
  end

  def exchange(socket, connection)
    connection.flush { |bytes| socket.write(bytes) }
    connection.receive(socket.readpartial(16_384)) { |*message| yield message if block_given? }
    connection.flush { |bytes| socket.write(bytes) }
  end

  [false, true].product([9, 12, 15]).each do |no_context_takeover, bits|
    takeover = no_context_takeover ? "no context takeover" : "context takeover"
    it "sends back what it gets with #{takeover} and #{bits} bits" do
      random = Random.new(RSpec.configuration.seed)
      listening = TCPServer.new("127.0.0.1", 0)
      arguments = [listening.addr[1], no_context_takeover, bits].map(&:to_s)
      pid = spawn({ "PYTHONPATH" => packages }, "python3", client, *arguments)
      socket = listening.accept
      connection = WsUnmask::Connection.server(deflate: true)
      connection.receive(socket.readpartial(16_384)) until connection.open?
      expect(connection.output).to include "Sec-WebSocket-Extensions: permessage-deflate"
      messages = some_messages(random)
      echoes = []
      messages.each_with_index do |(type, payload), number|
        connection.public_send(type, payload)
        exchange(socket, connection) { |message| echoes << message } while echoes.size <= number
      end
      expect(echoes).to eq messages
      connection.close(1000)
      exchange(socket, connection) until connection.closed?
    ensure
      [socket, listening].compact.each(&:close)
      Process.wait(pid) if pid
    end
  end
end
