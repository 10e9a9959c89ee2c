# frozen_string_literal: true

require "json"
require "socket"
require "ws_unmask"
require_relative "../examples/server"
require_relative "support/json_messages"

# What compression costs a Rails app: connections that chat over Action Cable, in JSON, without it
# and as examples/action_cable/compression.rb turns it on.
class CableChat
  CONNECTIONS = 400
  MESSAGES = 20 # that each of them sends, and gets back

  # A client of Action Cable's protocol. It offers compression, as browsers do.
  class ChatClient
    READ_SIZE = 16 << 10
    IDENTIFIER = { channel: "EchoChannel" }.to_json.freeze

    # Bytes that have come from the server.
    attr_reader :received

    def initialize(port)
      @socket = TCPSocket.new("127.0.0.1", port)
      @socket.setsockopt(:TCP, :NODELAY, true)
      @connection = WsUnmask::Connection.client("ws://127.0.0.1:#{port}/cable", deflate: true)
      @received = 0
      wait_for("welcome")
      @connection.text({ command: "subscribe", identifier: IDENTIFIER }.to_json)
      wait_for("confirm_subscription")
    end

    def say(text)
      data = { text: }.to_json
      @connection.text({ command: "message", identifier: IDENTIFIER, data: }.to_json)
      flush
    end

    # Receives until a message contains `expected`.
    def wait_for(expected)
      flush
      is_there = false
      until is_there
        bytes = @socket.readpartial(READ_SIZE)
        @received += bytes.bytesize
        @connection.receive(bytes) do |type, payload|
          is_there ||= type == :text && payload.include?(expected)
        end
        flush
      end
    end

    def close = @socket.close

    private

    def flush = @connection.flush { |bytes| @socket.write(bytes) }
  end

  def run
    puts "#{CONNECTIONS} connections of Action Cable, each sends #{MESSAGES} JSON messages of " \
         "125 bytes and gets them back",
         format("%-24s %20s %16s %14s", "", "CPU, us a message", "KiB/connection", "bytes of each")
    { "without compression" => "0", "with it" => "1" }.each do |title, state|
      puts format("%-24s %20.0f %16.1f %14.0f", title, *chat(state))
    end
  end

  private

  def chat(state)
    env = { "CABLE_COMPRESSION" => state, "RAILS_ENV" => "production", "RACK_ENV" => "production" }
    Server.run("examples/action_cable/config.ru", "-t", "5:5", env:) do |port, pid|
      ChatClient.new(port).close # what the first one needs is not a connection's
      before = resident(pid)
      clients = Array.new(CONNECTIONS) { ChatClient.new(port) }
      received = clients.sum(&:received)
      cpu = Server.cpu_seconds(pid)
      JsonMessages.of(125).first(MESSAGES).each { |text| exchange(clients, text) }
      count = CONNECTIONS * MESSAGES
      [(Server.cpu_seconds(pid) - cpu) * 1e6 / count,
       (resident(pid) - before) / 1024.0 / CONNECTIONS,
       (clients.sum(&:received) - received).fdiv(count)]
    ensure
      clients&.each(&:close)
    end
  end

  def exchange(clients, text)
    clients.each { |client| client.say(text) }
    last = text[/\d+/] # its id
    clients.each { |client| client.wait_for(last) }
  end

  def resident(pid) = File.read("/proc/#{pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i << 10
end

CableChat.new.run
