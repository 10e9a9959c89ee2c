# frozen_string_literal: true

require "digest/sha1"
require "net/http"
require_relative "support/frames"
require_relative "support/tls"
require_relative "../examples/echo_client"
require_relative "../examples/server"

# Real servers over real sockets, with a client that has nothing of the library.
%w[echo.ru echo_nio4r.rb echo_async.rb].each do |example|
  RSpec.describe "examples/#{example}" do
    if example == "echo_async.rb" && Gem::Specification.find_all_by_name("async").empty?
      it("echoes") { skip "async is not installed: `rake matrix` has it" }
      next
    end

    around do |it|
      Server.run("examples/#{example}") do |port, pid|
        @port = port
        @pid = pid
        it.run
      end
    end

    def within_a_connection(&)
      Client.open(@port, &)
    end

    def answer_to(*lines)
      TCPSocket.open("127.0.0.1", @port) do |socket|
        socket.write([*lines, "Host: localhost", "", ""].join("\r\n"))
        socket.readpartial(4096)
      end
    end

    def answer_to_no_key
      answer_to("GET / HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13")
    end

    def open_sockets
      Dir["/proc/#{@pid}/fd/*"].count do |descriptor|
        File.readlink(descriptor).start_with?("socket:")
      rescue Errno::ENOENT
        false # it has been closed meanwhile
      end
    end

    it "echoes texts and binaries of 0 bytes to 1 MiB" do
      within_a_connection do |client|
        [0, 5, 125, 126, 1000, 65_536, 1 << 20].each do |size|
          text = "ü" * (size / 2)
          client.send(:text, text)
          expect(client.receive.to_a).to eq [true, 1, text.b]
          binary = Random.bytes(size)
          client.send(:binary, binary)
          expect(client.receive.to_a).to eq [true, 2, binary]
        end
      end
    end

    it "echoes messages in fragments and in small writes" do
      within_a_connection do |client|
        frames = Client.frame(:text, "Hel", fin: false) + Client.frame(:continuation, "lo")
        frames.each_char { |byte| client.write(byte) }
        expect(client.receive.payload).to eq "Hello"
      end
    end

    it "echoes many messages of one read in order, and pings between them" do
      within_a_connection do |client|
        client.write(Array.new(100) do |number|
          Client.frame(:text, number.to_s) + Client.frame(:ping, number.to_s)
        end.join)
        received = Array.new(200) { client.receive }
        expect(received.map(&:opcode)).to eq [1, 10] * 100
        expect(received.map(&:payload)).to eq((0...100).flat_map { [_1.to_s] * 2 })
      end
    end

    it "echoes the code and the reason of a close, and ends the connection" do
      within_a_connection do |client|
        client.send(:close, "\x03\xe8bye")
        expect(client.receive.to_a).to eq [true, 8, "\x03\xe8bye".b]
        expect(client.receive).to be_nil
      end
    end

    it "delivers the close code to a client that is still sending" do
      within_a_connection do |client|
        client.write("\xff\x00".b)
        64.times { client.write("x" * 65_536) }
        expect(client.receive.payload.unpack1("n")).to eq 1002
        expect(client.receive).to be_nil
      end
    end

    it "does not wait forever for a client that keeps sending" do
      within_a_connection do |client|
        client.write("\xff\x00".b)
        expect { loop { client.write("x" * 65_536) } }.to raise_error SystemCallError
      end
    end

    it "waits for a client that reads late" do
      within_a_connection do |client|
        size = 1 << 20
        writer = Thread.new { 32.times { |i| client.send(:binary, i.chr * size) } }
        sleep 0.2
        32.times { |i| expect(client.receive.payload == i.chr * size).to be true }
        writer.join
      end
    end

    it "stops reading from a client that does not read" do
      within_a_connection do |client|
        message = Client.frame(:binary, "x" * 65_536)
        written = 0
        writer = Thread.new { 1024.times { written += 1 if client.write(message) } }
        before = -1
        (before = written) && sleep(1) until before == written
        expect(written).to be < 1024
      ensure
        writer.kill.join
      end
    end

    it "keeps serving when a client disconnects in the middle of a message" do
      within_a_connection { |client| client.write(Client.frame(:text, "Hello").byteslice(0, 8)) }
      within_a_connection do |client|
        client.send(:text, "Hello")
        expect(client.receive.payload).to eq "Hello"
      end
    end

    it "keeps serving when it has had no descriptors left for new connections" do
      shell = ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"]
      limited = ->(port) { shell + Server.command("examples/#{example}", port) }
      Server.run_command(limited) do |port|
        waiting = Array.new(100) { TCPSocket.new("127.0.0.1", port) }
        expect(waiting.last.wait_readable(0.5)).to be_nil
        waiting.each(&:close)
        Client.open(port) do |client|
          client.send(:text, "Hello")
          expect(client.receive.payload).to eq "Hello"
        end
      end
    end

    it "answers a request that is not for a WebSocket" do
      response = Net::HTTP.get_response("127.0.0.1", "/", @port)
      expect([response.code, response["Upgrade"]]).to eq %w[426 websocket]
    end

    it "answers 400 to a request without a key" do
      expect(answer_to_no_key).to start_with "HTTP/1.1 400 Bad Request\r\n"
    end

    it "keeps no socket of a request without a key" do
      skip "there is no /proc here" unless Dir.exist?("/proc/#{@pid}/fd")

      before = open_sockets
      20.times { answer_to_no_key }
      100.times { open_sockets > before ? sleep(0.05) : break }
      expect(open_sockets).to be <= before
    end
  end
end

RSpec.describe "examples/echo.ru behind TLS" do
  it "echoes, and says why it refuses a frame" do
    TLS.run("examples/echo.ru") do |port,|
      TCPSocket.open("127.0.0.1", port) do |tcp|
        socket = OpenSSL::SSL::SSLSocket.new(tcp).connect
        socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n" \
                     "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
                     "Sec-WebSocket-Key: #{["k" * 16].pack("m0")}\r\n\r\n")
        expect(socket.gets("\r\n\r\n")).to start_with "HTTP/1.1 101 "
        socket.write(Client.frame(:text, "Hello"))
        expect(socket.read(7)).to eq "\x81\x05Hello".b
        socket.write("\xff\x00".b)
        expect(socket.read(4).unpack("CCn")).to match [0x88, Integer, 1002]
        socket.close
      end
    end
  end
end

RSpec.describe EchoClient do
  # A server that is not of the library. Yields the socket after the handshake.
  def serve
    listening = TCPServer.new("127.0.0.1", 0)
    client = Thread.new { described_class.run("ws://127.0.0.1:#{listening.addr[1]}/") }
    socket = listening.accept
    request = socket.gets("\r\n\r\n")
    key = request[/^Sec-WebSocket-Key: (\S+)/, 1]
    proof = Digest::SHA1.base64digest("#{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
                 "Connection: Upgrade\r\nSec-WebSocket-Accept: #{proof}\r\n\r\n" \
                 "\x81\x05Hello")
    yield socket
    client.join
  ensure
    [socket, listening].each(&:close)
  end

  # A short masked frame: its first byte, and its payload.
  def receive(socket)
    first, length, key = socket.read(6).unpack("CCa4")
    expect(length).to be > 0x80
    [first, Client.mask(socket.read(length & 0x7f), key)]
  end

  it "echoes, including messages that arrived with the response" do
    serve do |socket|
      expect(receive(socket)).to eq [0x81, "Hello"]
      socket.write("\x82\x01\xff".b)
      expect(receive(socket)).to eq [0x82, "\xff".b]
      socket.close
    end
  end

  it "echoes a close, and lets the server end the connection" do
    serve do |socket|
      receive(socket)
      socket.write("\x88\x02\x03\xe8".b)
      expect(receive(socket)).to eq [0x88, "\x03\xe8".b]
      expect(socket.wait_readable(0.3)).to be_nil
      socket.close_write
      expect(socket.read).to eq ""
    end
  end
end
