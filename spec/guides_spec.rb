# frozen_string_literal: true

require "open3"
require "rbconfig"
require "socket"
require "tempfile"
require_relative "support/tls"
require_relative "../examples/client"
require_relative "../examples/server"

# The programs in the guides, as somebody pastes them, over real sockets. The other examples of the
# guides are run by readme_spec.rb.
RSpec.describe "guides" do
  root = File.expand_path("..", __dir__)

  define_method(:program) do |guide, beginning|
    blocks = File.read("#{root}/guides/#{guide}.md").scan(/^```ruby\n(.*?)^```$/m).flatten
    blocks.find { |code| code.include?(beginning) }
  end

  def run_ruby(code, **env)
    Open3.capture2e(env.transform_keys(&:to_s), RbConfig.ruby, "-I#{__dir__}/../lib", "-",
                    stdin_data: code).first
  end

  describe "write_a_server.md's Rack app" do
    around do |it|
      Tempfile.create(["config", ".ru"]) do |file|
        file.write(program("write_a_server", "run(lambda"))
        file.flush
        command = ->(port) { [*Server.command("config.ru", port)[0..-2], file.path] }
        Server.run_command(command) do |port|
          @port = port
          it.run
        end
      end
    end

    def open_socket(origin)
      TCPSocket.open("127.0.0.1", @port) do |socket|
        socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n" \
                     "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nOrigin: #{origin}\r\n" \
                     "Sec-WebSocket-Key: #{["k" * 16].pack("m0")}\r\n\r\n")
        yield socket, socket.gets("\r\n\r\n")
      end
    end

    it "echoes to the origin it names, and to no other" do
      open_socket("https://example.com") do |socket, head|
        expect(head).to start_with "HTTP/1.1 101 "
        socket.write(Client.frame(:text, "Hello"))
        expect(socket.read(7)).to eq "\x81\x05Hello".b
      end
      open_socket("https://evil.example") { |_, head| expect(head).to start_with "HTTP/1.1 403 " }
    end

    it "tells a client that is still sending why its frame was refused, and ends" do
      open_socket("https://example.com") do |socket, _|
        socket.write("\xff\x00".b)
        64.times { socket.write("x" * 65_536) }
        expect(socket.read(4).unpack("CCn")).to match [0x88, Integer, 1002]
        socket.read
        expect(socket).to be_eof
      end
    end
  end

  describe "write_a_client.md's client" do
    let(:client) { program("write_a_client", "TCPSocket.new(\"127.0.0.1\"") }
    let(:client_with_tls) do
      client.sub(/^connection = .*?(?=^begin)/m) { program("write_a_client", "SSLSocket.new(") }
    end

    it "prints what the server sends, and ends" do
      Server.run("examples/echo.ru") do |port|
        expect(run_ruby(client.gsub("9292", port.to_s))).to eq "Hello\nclosed with 1000\n"
      end
    end

    it "says why a server refuses it" do
      server = TCPServer.new("127.0.0.1", 0)
      refusal = Thread.new do
        socket = server.accept
        socket.gets("\r\n\r\n")
        socket.write("HTTP/1.1 404 Not Found\r\n\r\n")
        socket.close
      end
      expect(run_ruby(client.gsub("9292", server.addr[1].to_s)))
        .to eq "the server responded with 404\n"
      refusal.join
    end

    it "says that a server has gone" do
      server = TCPServer.new("127.0.0.1", 0)
      going = Thread.new { server.accept.then { |socket| socket.gets("\r\n\r\n") && socket.close } }
      output = run_ruby(client.gsub("9292", server.addr[1].to_s))
      expect(output).to start_with "the connection is lost"
      going.join
    end

    it "works with TLS, and only with a certificate that it trusts" do
      TLS.run("examples/echo.ru") do |port, certificate|
        code = client_with_tls.gsub("example.com/", "localhost:#{port}/")
                              .gsub('"example.com", 443', "\"localhost\", #{port}")
                              .gsub("example.com", "localhost")
        expect(run_ruby(code, SSL_CERT_FILE: certificate)).to eq "Hello\nclosed with 1000\n"
        expect(run_ruby(code)).to include "certificate verify failed"
        named = code.sub('hostname = "localhost"', 'hostname = "other.example"')
        expect(named).not_to eq code
        expect(run_ruby(named, SSL_CERT_FILE: certificate)).to include "certificate verify failed"
      end
    end
  end
end
