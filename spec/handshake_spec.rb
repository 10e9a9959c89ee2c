# frozen_string_literal: true

require "digest/sha1"
require_relative "support/frames"

# What RFC 6455 (sections 4.1 and 4.2), RFC 9110 and RFC 9112 demand of an opening handshake. What
# is quoted is theirs.
RSpec.describe "the opening handshake of WsUnmask::Connection" do
  include Frames

  let(:host) { "Host: server.example.com\r\n" }
  let(:fields) do
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
  end
  let(:request) { "GET /chat HTTP/1.1\r\n#{host}#{fields}\r\n" }

  def status_of(request)
    server = WsUnmask::Connection.server
    server.receive(request + hello)
    server.output[%r{\AHTTP/1\.1 (\d+) }, 1].to_i
  end

  def status_after(from, to)
    wrong = request.sub(from, to)
    expect(wrong).not_to eq request
    status_of(wrong)
  end

  def opened(request)
    WsUnmask::Connection.server.receive(request).first&.last
  end

  describe "a request" do
    {
      # RFC 6455, section 4.2.1
      "An HTTP/1.1 or higher GET request" =>
        [["GET", "POST", 405], ["GET", "HEAD", 405], ["HTTP/1.1", "HTTP/1.0", 400]],
      "including a 'Request-URI' that should be interpreted as a resource name" =>
        [["/chat", "*", 400], ["/chat", "chat", 400], ["/chat", "server.example.com:80", 400],
         ["/chat", "ws://server.example.com/chat", 400], ["/chat", "/chat#here", 400],
         ["/chat", "http:///chat", 400]],
      "A Host header field containing the server's authority" =>
        [[/^Host: .*\r\n/, "", 400], [/^Host: .*\r/, "Host:\r", 400],
         [/^Host: .*\r/, "Host: user@a.example\r", 400], [/^Host: .*\r/, "Host: a/b\r", 400],
         [/^Host: .*\r/, "Host: a:b\r", 400], [/^Host: (.*)\r/, "Host: a\r\nHost: a\r", 400]],
      "An Upgrade header field containing the value 'websocket'" =>
        [[/^Upgrade.*\r\n/, "", 426], ["websocket", "websockets", 426]],
      "A Connection header field that includes the token 'Upgrade'" =>
        [[/^Connection.*\r\n/, "", 426], ["n: Upgrade", "n: close", 426]],
      "A Sec-WebSocket-Key header field with a base64-encoded value that, when decoded, is 16 " \
      "bytes in length" =>
        [[/^Sec-WebSocket-Key.*\r\n/, "", 400], ["Q==", "QQ==", 400], ["Q==", "==", 400],
         ["dGh", "d?h", 400], [/^(Sec-WebSocket-Key.*\r\n)/, "\\1\\1", 400]],
      "A Sec-WebSocket-Version header field, with a value of 13" =>
        [[/^Sec-WebSocket-Version.*\r\n/, "", 426], [": 13", ": 12", 426],
         [": 13", ": 13, 13", 426]]
    }.each do |must, changes|
      it "must be or have \"#{must}\"" do
        changes.each { |from, to, status| expect(status_after(from, to)).to eq(status), to }
      end
    end

    it "is accepted as it is" do
      expect(status_of(request)).to eq 101
    end

    # "A client cannot begin to use an upgraded protocol on the connection until it has completely
    # sent the request message" (RFC 9110, section 7.8): frames would be taken for content.
    it "must not have content" do
      ["Content-Length: 11", "Content-Length: 0\r\nContent-Length: 11", "Content-Length: -0",
       "Transfer-Encoding: chunked"].each do |line|
        expect(status_after("\r\n\r\n", "\r\n#{line}\r\n\r\n")).to eq 400
      end
    end

    it "is refused if it is malformed (RFC 9112, sections 2.2, 3 and 5)" do
      [["\r\nHost", "\r\n Host"], ["\r\nHost", "\r\n\tHost"], ["Host:", "Host :"],
       ["websocket", "web\rsocket"], ["websocket", "websocket\r\n folded"],
       ["websocket", "web\0socket"], ["GET /", "GET  /"], ["HTTP/1.1", "http/1.1"],
       ["HTTP/1.1", "HTTP/1.1 "]].each do |from, to|
        expect(status_after(from, to)).to eq(400), to
      end
    end

    it "is accepted after an empty line (RFC 9112, section 2.2), in pieces of any size" do
      [1, 2, 3, 1000].each do |size|
        server = WsUnmask::Connection.server
        received = "\r\n#{request}".scan(/.{1,#{size}}/m).flat_map { server.receive(_1) }
        expect(received.map(&:first)).to eq [:open]
      end
    end

    it "may have an absolute URI, whose host replaces Host (RFC 9112, section 3.2.2)" do
      head = opened(request.sub("/chat", "http://other.example:81/chat?a=http://b"))
      expect([head.target, head["host"]]).to eq ["/chat?a=http://b", "other.example:81"]
      head = opened(request.sub("/chat", "HTTPS://other.example"))
      expect([head.target, head["host"]]).to eq ["/", "other.example"]
      head = opened(request.sub("/chat", "http://other.example?a"))
      expect(head.target).to eq "/?a"
    end

    it "with an absolute URI needs one Host, and a valid host" do
      absolute = request.sub("/chat", "http://a/chat")
      expect(status_of(absolute.sub(host, ""))).to eq 400
      expect(status_of(absolute.sub(host, host * 2))).to eq 400
      expect(status_of(absolute.sub("//a/", "//user@a/"))).to eq 400
    end

    it "may name any host that a URI can have, with a port or without" do
      hosts = %w[a a.example:80 a.example: 127.0.0.1:9292 [::1] [::1]:9292 a_b.example xn--4ca]
      hosts.each do |name|
        expect(opened(request.sub("server.example.com", name))["host"]).to eq name
      end
    end

    it "may say that it has no content" do
      expect(status_of(request.sub("\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n"))).to eq 101
    end

    # RFC 4648, section 3.5, leaves it open, and what the client knows is the text, not the bytes.
    it "may have a key whose last bits are not zero" do
      expect(status_of(request.sub("Q==", "R=="))).to eq 101
    end

    it "of Rack is refused with content, too" do
      env = { "REQUEST_METHOD" => "GET", "SERVER_PROTOCOL" => "HTTP/1.1", "PATH_INFO" => "/",
              "HTTP_HOST" => "a", "HTTP_UPGRADE" => "websocket", "HTTP_CONNECTION" => "Upgrade",
              "HTTP_SEC_WEBSOCKET_KEY" => "dGhlIHNhbXBsZSBub25jZQ==",
              "HTTP_SEC_WEBSOCKET_VERSION" => "13" }
      [{}, { "CONTENT_LENGTH" => "0" }, { "CONTENT_LENGTH" => "" }].each do |changes|
        expect(WsUnmask::Connection.accept(env.merge(changes))).to be_open
      end
      [{ "CONTENT_LENGTH" => "1" }, { "HTTP_TRANSFER_ENCODING" => "chunked" }].each do |changes|
        expect(WsUnmask::Connection.accept(env.merge(changes)).rejection.first).to eq 400
      end
    end
  end

  describe "a refusal" do
    it "says that the connection closes, and what to upgrade to" do
      server = WsUnmask::Connection.server
      server.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      expect(server.output).to start_with("HTTP/1.1 426 ")
        .and include("\r\nupgrade: websocket\r\n", "\r\nconnection: Upgrade, close\r\n")
      server = WsUnmask::Connection.server
      server.receive("GET / HTTP/1.1\r\n\r\n")
      expect(server.output).to include "\r\nconnection: close\r\n"
    end
  end

  describe "the request of a client" do
    it "must not name a subprotocol twice: they \"MUST all be unique strings\"" do
      expect { WsUnmask::Connection.client("ws://a", subprotocols: %w[a b a]) }
        .to raise_error ArgumentError, /twice/
    end

    it "is for a URL without a user, which a WebSocket URL has not" do
      ["ws://user@a/", "wss://user:password@a/"].each do |url|
        expect { WsUnmask::Connection.client(url) }
          .to raise_error ArgumentError, /not a WebSocket URL/
      end
    end

    it "is for a URL with a scheme in upper or lower case" do
      expect(WsUnmask::Connection.client("WSS://a:443/").output).to include "\r\nHost: a\r\n"
    end

    it "is accepted by a server" do
      urls = %w[ws://a ws://a/?b wss://a:81/b%20c?d=/ ws://[::1]:80/ ws://a//b]
      urls.each { |url| expect(status_of(WsUnmask::Connection.client(url).output)).to eq 101 }
    end
  end

  describe "the response to a client" do
    def client_after(subprotocols: [], size: 10_000)
      client = WsUnmask::Connection.client("ws://a", subprotocols:)
      key = client.output[/^Sec-WebSocket-Key: (\S+)/, 1]
      proof = Digest::SHA1.base64digest("#{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
      response = yield "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
                       "Connection: Upgrade\r\nSec-WebSocket-Accept: #{proof}\r\n\r\n"
      @received = response.b.scan(/.{1,#{size}}/mn).flat_map { |piece| client.receive(piece) }
      client
    end

    it "is accepted as it is, and in upper or lower case" do
      expect(client_after { |response| response }).to be_open
      expect(client_after { |response| response.sub("websocket", "WebSocket") }).to be_open
      expect(client_after { |response| response.sub("n: Upgrade", "n: x, upgrade") }).to be_open
      expect(client_after { |response| response.sub("Accept: ", "Accept:\t ") }).to be_open
    end

    {
      "lacks an Upgrade header field or the Upgrade header field contains a value that is not an " \
      "ASCII case-insensitive match for the value 'websocket'" =>
        [[/^Upgrade.*\r\n/, ""], %w[websocket h2c], ["websocket", "h2c, websocket"]],
      "lacks a Connection header field or the Connection header field doesn't contain a token " \
      "that is an ASCII case-insensitive match for the value 'Upgrade'" =>
        [[/^Connection.*\r\n/, ""], ["n: Upgrade", "n: close"], ["n: Upgrade", "n: Upgrades"]],
      "lacks a Sec-WebSocket-Accept header field or the Sec-WebSocket-Accept contains a value " \
      "other than" =>
        [[/^Sec-WebSocket-Accept.*\r\n/, ""], [/(Accept: .*)=\r/, "\\1\r"],
         [/^(Sec-WebSocket-Accept.*\r\n)/, "\\1\\1"]],
      "indicates the use of an extension that was not present in the client's handshake" =>
        [["\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"]],
      "indicates the use of a subprotocol that was not present in the client's handshake" =>
        [["\r\n\r\n", "\r\nSec-WebSocket-Protocol: c\r\n\r\n"],
         ["\r\n\r\n", "\r\nSec-WebSocket-Protocol: A\r\n\r\n"],
         ["\r\n\r\n", "\r\nSec-WebSocket-Protocol:\r\n\r\n"],
         ["\r\n\r\n", "\r\nSec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: b\r\n\r\n"]]
    }.each do |fault, changes|
      it "fails the connection if it #{fault.inspect}" do
        changes.each do |from, to|
          client = client_after(subprotocols: %w[a b]) { |response| response.sub(from, to) }
          expect(client).to be_closed
          expect(client.error).to be_a(WsUnmask::HandshakeError)
        end
      end
    end

    it "may come after interim responses (RFC 9110, section 15.2), in pieces of any size" do
      interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
      [1, 7, 1000].each do |size|
        client_after(size:) { |response| "#{interim}#{response}\x81\x01a" }
        expect(@received.map(&:first)).to eq %i[open text]
      end
    end

    it "may not come after more interim responses than a server would send" do
      client = client_after { "HTTP/1.1 100 Continue\r\n\r\n" * 100 }
      expect(client.error.message).to include "interim"
      expect(client).to be_closed
    end

    it "may have values that are folded (RFC 9112, section 5.2)" do
      client = client_after { |response| response.sub("n: ", "n: x,\r\n\t ").sub("t: ", "t:\r\n ") }
      expect(client).to be_open
    end

    it "tells the status and the headers if it refuses, also in HTTP/1.0" do
      %w[1.1 1.0].each do |version|
        client = client_after do
          "HTTP/#{version} 401 Unauthorized\r\nWWW-Authenticate: Basic\r\n\r\nbody"
        end
        expect(client).to be_closed
        expect(client.error).to have_attributes(
          message: "the server responded with 401", status: 401,
          headers: { "www-authenticate" => "Basic" }
        )
      end
    end

    it "cannot switch protocols in HTTP/1.0" do
      expect(client_after { |response| response.sub("HTTP/1.1", "HTTP/1.0") }).to be_closed
    end
  end
end
