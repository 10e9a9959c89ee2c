# frozen_string_literal: true

require "json"
require_relative "../../examples/client"

# A client of Action Cable's protocol, subscribed to one channel.
class CableClient
  def self.open(port, channel)
    Client.open(port, "/cable") do |client|
      yield new(client, channel)
    end
  end

  def initialize(client, channel)
    @client = client
    @identifier = { channel: }.to_json
    expect("welcome")
    send_command(:subscribe)
    expect("confirm_subscription")
  end

  def send(data)
    send_command(:message, data: data.to_json)
  end

  # The channel's next message; skips the server's heartbeats.
  def receive
    message = next_message
    message = next_message while message["type"] == "ping"
    message["message"]
  end

  private

  def send_command(command, **more)
    @client.send(:text, { command:, identifier: @identifier, **more }.to_json)
  end

  def next_message
    frame = @client.receive or raise "the server has closed the connection"
    JSON.parse(frame.payload)
  end

  def expect(type)
    message = next_message
    message = next_message while message["type"] == "ping"
    raise "#{type} expected, not #{message}" unless message["type"] == type
  end
end
