# frozen_string_literal: true

require_relative "support/integration"

# A real Rack app: Puma, faye-websocket and ws_unmask, over a real socket.
RSpec.describe "examples/faye_echo.ru" do
  around { |example| Server.run("examples/faye_echo.ru") { |port| @port = port and example.run } }

  it "echoes masked texts and binaries of 0 bytes to 1 MiB" do
    Client.open(@port) do |client|
      [0, 5, 125, 126, 1000, 65_536, 1 << 20].each do |size|
        text = ("grüß " * ((size / 7) + 1)).byteslice(0, size).scrub(".")
        client.send(:text, text)
        expect(client.receive.to_a).to eq [true, 1, text.b]
        binary = Random.bytes(size)
        client.send(:binary, binary)
        expect(client.receive.to_a).to eq [true, 2, binary]
      end
    end
  end

  it "echoes messages in fragments and in small writes" do
    Client.open(@port) do |client|
      frames = Client.frame(:text, "Hel", fin: false) + Client.frame(:continuation, "lo")
      frames.each_char { |byte| client.write(byte) }
      expect(client.receive.payload).to eq "Hello"
    end
  end
end
