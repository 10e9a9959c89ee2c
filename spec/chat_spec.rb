# frozen_string_literal: true

require_relative "support/frames"
require_relative "../examples/client"
require_relative "../examples/server"

# A real server over real sockets, with a client that does not use the library.
RSpec.describe "examples/chat_nio4r.rb" do
  around { |it| Server.run("examples/chat_nio4r.rb") { |port| @port = port and it.run } }

  def with_clients(count)
    clients = Array.new(count) { Client.new(@port) }
    yield clients
  ensure
    clients.each(&:disconnect)
  end

  # The payloads that it receives, without pings.
  def heard(client, count)
    Array.new(count) do
      frame = client.receive
      frame = client.receive while frame&.opcode == 9
      frame&.payload
    end
  end

  # A client that was dropped gets a reset after the bytes already sent to it.
  def bytes_until_the_end(client)
    bytes = 0
    while (frame = client.receive)
      bytes += frame.payload.bytesize
    end
    bytes
  rescue SystemCallError, NoMethodError
    bytes
  end

  it "sends each message to all clients, in order" do
    with_clients(20) do |clients|
      clients.first.write(Array.new(50) { |i| Client.frame(:text, "grüß #{i}".b) }.join)
      expected = Array.new(50) { |i| "grüß #{i}".b }
      expect(clients.map { |client| heard(client, 50) }).to all eq expected
    end
  end

  it "drops a client that does not read, while the others receive everything" do
    with_clients(3) do |(speaker, listener, deaf)|
      text = "x" * 60_000
      300.times do
        speaker.send(:text, text)
        expect([speaker, listener].map { |client| heard(client, 1) }).to all eq [text]
      end
      expect(bytes_until_the_end(deaf)).to be < 300 * text.bytesize
    end
  end

  it "says why it refuses a frame, and ends the connection" do
    with_clients(1) do |(client)|
      client.write("\xff\x00".b)
      expect(client.receive.payload.unpack1("n")).to eq 1002
      expect(client.receive).to be_nil
    end
  end

  it "keeps serving when clients disconnect in the middle of a message" do
    with_clients(10) { |clients| clients.each { |client| client.write("\x81\xff".b) } }
    with_clients(1) do |(client)|
      client.send(:text, "Hello")
      expect(heard(client, 1)).to eq ["Hello"]
    end
  end

  it "ends the connection after a last message and a close in one write" do
    with_clients(2) do |(one, other)|
      one.write(Client.frame(:text, "bye") + Client.frame(:close, "\x03\xe8".b))
      expect(heard(one, 2)).to eq ["bye", "\x03\xe8".b]
      expect(heard(other, 1)).to eq ["bye"]
      expect(one.receive).to be_nil
    end
  end
end
