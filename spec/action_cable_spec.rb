# frozen_string_literal: true

require_relative "support/cable_client"
require_relative "support/integration"

# A real Rails app under Puma, over real sockets.
RSpec.describe "examples/action_cable" do
  def run_app(env = {}, &)
    Server.run("examples/action_cable/config.ru", "-t", "5:5",
               env: { "RAILS_ENV" => "production", "RACK_ENV" => "production", **env }, &)
  end

  def echo(client, text, times)
    times.times do |number|
      client.send({ number:, text: })
      expect(client.receive).to eq("number" => number, "text" => text)
    end
  end

  { "with ws_unmask" => {}, "without" => { "WS_UNMASK_DISABLE" => "1" } }.each do |how, env|
    it "echoes 20 B, 2 KB and 64 KB #{how}" do
      run_app(env) do |port, _|
        CableClient.open(port, "EchoChannel") do |client|
          [20, 2000, 64_000].each { |size| echo(client, "x" * size, 50) }
        end
      end
    end
  end

  it "compresses for clients that offer it, with its compression turned on" do
    run_app("CABLE_COMPRESSION" => "1") do |port, _|
      socket = TCPSocket.new("127.0.0.1", port)
      connection = WsUnmask::Connection.client("ws://127.0.0.1:#{port}/cable", deflate: true)
      messages = []
      received = 0
      exchange = lambda do |count|
        connection.flush { |bytes| socket.write(bytes) }
        while messages.size < count
          read = socket.readpartial(4096)
          received += read.bytesize
          connection.receive(read) do |type, payload|
            messages << JSON.parse(payload) if type == :text && !payload.include?('"ping"')
          end
          connection.flush { |bytes| socket.write(bytes) }
        end
      end
      exchange.call(1)
      identifier = { channel: "EchoChannel" }.to_json
      connection.text({ command: "subscribe", identifier: }.to_json)
      exchange.call(2)
      data = { text: "grüß " * 1000 }
      connection.text({ command: "message", identifier:, data: data.to_json }.to_json)
      exchange.call(3)
      expect(messages.last["message"]).to eq("text" => data[:text])
      expect(received).to be < 1500
      CableClient.open(port, "EchoChannel") { |client| echo(client, "not compressed", 2) }
    ensure
      socket&.close
    end
  end

  it "broadcasts from each of two servers on one Redis to every client of both, once" do
    skip "redis-server is not installed" unless system("redis-server --version", out: IO::NULL)
    skip "this Rails has no adapter for this redis gem" if redis_is_too_new?

    with_redis do |url|
      run_app("REDIS_URL" => url) do |port, _|
        run_app("REDIS_URL" => url) do |other_port, _|
          here, there = [port, other_port].map { |at| Array.new(50) { subscribed_client(at) } }
          here.first.send({ "number" => 1 })
          there.first.send({ "number" => 2 })
          # A second delivery of either would come before the third.
          first_two = (here + there).map { |client| Array.new(2) { client.receive["number"] }.sort }
          expect(first_two).to all eq [1, 2]
          here.last.send({ "number" => 3 })
          expect((here + there).map(&:receive)).to all include("number" => 3)
        end
      end
    end
  end

  # Rails 7.2 and older want redis < 6.
  def redis_is_too_new?
    redis, rails = %w[redis railties].map { |name| Gem.loaded_specs[name].version.segments.first }
    redis >= 6 && rails < 8
  end

  def subscribed_client(port)
    CableClient.new(Client.new(port, "/cable"), "BroadcastChannel")
  end

  def with_redis
    port = Server.free_port
    redis = spawn("redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "",
                  out: IO::NULL)
    Server.wait_for(port, redis)
    yield "redis://127.0.0.1:#{port}/0"
  ensure
    Server.stop(redis) if redis
  end
end
