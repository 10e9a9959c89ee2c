# frozen_string_literal: true

require_relative "support/frames"

RSpec.describe WsUnmask::Connection do
  include Frames

  let(:key) { "dGhlIHNhbXBsZSBub25jZQ==" } # RFC 6455, section 1.3
  let(:accept_key) { "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" }
  let(:request) do
    "GET /chat?room=1 HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\n" \
      "Connection: Upgrade\r\nSec-WebSocket-Key: #{key}\r\nOrigin: http://example.com\r\n" \
      "Sec-WebSocket-Version: 13\r\n\r\n"
  end
  let(:env) do
    { "REQUEST_METHOD" => "GET", "SERVER_PROTOCOL" => "HTTP/1.1", "SCRIPT_NAME" => "",
      "PATH_INFO" => "/chat", "QUERY_STRING" => "room=1", "HTTP_HOST" => "server.example.com",
      "HTTP_UPGRADE" => "websocket", "HTTP_CONNECTION" => "Upgrade",
      "HTTP_SEC_WEBSOCKET_KEY" => key, "HTTP_ORIGIN" => "http://example.com",
      "HTTP_SEC_WEBSOCKET_VERSION" => "13" }
  end
  let(:server) { open_server }
  let(:client) { open_client }

  def open_server(**options)
    described_class.server(**options).tap do |connection|
      connection.receive(request)
      connection.output.clear
    end
  end

  def open_client(**options)
    described_class.client("ws://server.example.com/chat", **options).tap do |connection|
      connection.receive(response_to(connection.output))
      connection.output.clear
    end
  end

  # Made without the library.
  def response_to(request, *lines, status: "101 Switching Protocols")
    digest = Digest::SHA1.base64digest("#{request[/^Sec-WebSocket-Key: (\S+)/i, 1]}258EAFA5-E914-" \
                                       "47DA-95CA-C5AB0DC85B11")
    ["HTTP/1.1 #{status}", "Upgrade: websocket", "Connection: Upgrade",
     "Sec-WebSocket-Accept: #{digest}", *lines, "", ""].join("\r\n")
  end

  def taken(connection)
    connection.output.dup.tap { connection.output.clear }
  end

  def connect(wanted_by_client, wanted_by_server)
    client = described_class.client("ws://a", deflate: wanted_by_client)
    server = described_class.server(deflate: wanted_by_server)
    server.receive(taken(client))
    client.receive(taken(server))
    [client, server]
  end

  describe ".accept" do
    def accept(**changes)
      options, changes = changes.partition { |name, _| name.is_a?(Symbol) }.map(&:to_h)
      described_class.accept(env.merge(changes).compact, **options)
    end

    def status_of(changes)
      described_class.accept(env.merge(changes).compact).rejection&.first
    end

    it "answers with 101 and the proof that it has understood the key" do
      connection = described_class.accept(env)
      expect(connection.output).to eq(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
        "Sec-WebSocket-Accept: #{accept_key}\r\n\r\n"
      )
      expect(connection).to be_open
      expect(connection.rejection).to be_nil
    end

    it "continues with frames" do
      expect(described_class.accept(env).receive(hello)).to eq [[:text, "Hello"]]
    end

    it "refuses methods other than GET with 405" do
      status, headers, = described_class.accept(env.merge("REQUEST_METHOD" => "POST")).rejection
      expect(status).to eq 405
      expect(headers).to include "allow" => "GET"
    end

    it "refuses a version below HTTP/1.1" do
      expect(status_of("SERVER_PROTOCOL" => "HTTP/1.0")).to eq 400
      expect(status_of("HTTP_VERSION" => "HTTP/1.0")).to eq 400
      expect(status_of("SERVER_PROTOCOL" => "HTTP/2")).to eq 400
    end

    it "refuses a request without exactly one Host" do
      [nil, "", "a.example, b.example"].each do |host|
        expect(status_of("HTTP_HOST" => host)).to eq 400
      end
    end

    it "refuses a request without Upgrade: websocket with 426, and says so" do
      [nil, "", "h2c", "websocket2"].each do |upgrade|
        status, headers, body = described_class.accept(env.merge("HTTP_UPGRADE" => upgrade).compact)
                                               .rejection
        expect(status).to eq 426
        expect(headers).to include "upgrade" => "websocket", "connection" => "Upgrade"
        expect(body.join).to include "Upgrade: websocket"
      end
    end

    it "refuses a request without Connection: Upgrade with 426" do
      [nil, "", "keep-alive", "Upgraded"].each do |value|
        expect(status_of("HTTP_CONNECTION" => value)).to eq 426
      end
    end

    it "takes Upgrade and Connection as lists, in upper or lower case" do
      changes = { "HTTP_UPGRADE" => "h2c,  WebSocket", "HTTP_CONNECTION" => "keep-alive, upGRADE" }
      expect(described_class.accept(env.merge(changes))).to be_open
    end

    it "refuses versions other than 13 with 426, and names the version it supports" do
      [nil, "", "8", "013", "13, 8"].each do |version|
        changes = { "HTTP_SEC_WEBSOCKET_VERSION" => version }
        status, headers, = described_class.accept(env.merge(changes).compact).rejection
        expect(status).to eq 426
        expect(headers).to include "sec-websocket-version" => "13"
      end
    end

    it "refuses a key that is not 16 bytes in Base64" do
      keys = [nil, "", ["x" * 15].pack("m0"), ["x" * 17].pack("m0"), "#{key}\n", "#{key}, #{key}",
              "!#{key[1..]}"]
      keys.each { |wrong| expect(status_of("HTTP_SEC_WEBSOCKET_KEY" => wrong)).to eq 400 }
    end

    it "refuses an origin that the block does not allow with 403" do
      seen = []
      connection = described_class.accept(env) { |origin| !(seen << origin) }
      expect(connection.rejection.first).to eq 403
      expect(connection).to be_closed
      expect(seen).to eq ["http://example.com"]
    end

    it "asks the block about a client without an origin, too" do
      connection = described_class.accept(env.except("HTTP_ORIGIN")) { |origin, _| origin.nil? }
      expect(connection).to be_open
    end

    it "does not ask the block about a request that is refused anyway" do
      env.delete("HTTP_HOST")
      expect { |block| described_class.accept(env, &block) }.not_to yield_control
    end

    it "gives the block the request" do
      described_class.accept(env) do |_, request|
        expect(request).to have_attributes(request_method: "GET", target: "/chat?room=1",
                                           version: "1.1")
        expect(request["Host"]).to eq "server.example.com"
      end
    end

    it "joins the app's path and the client's whatever their encodings" do
      changes = { "SCRIPT_NAME" => "/é", "PATH_INFO" => "/\xff".b, "QUERY_STRING" => "ü" }
      described_class.accept(env.merge(changes)) do |_, request|
        expect(request.target).to eq "/é/\xff?ü".b
      end
    end

    it "chooses the first of the client's subprotocols that the server supports" do
      changes = { "HTTP_SEC_WEBSOCKET_PROTOCOL" => "v3, v2 ,v1" }
      connection = described_class.accept(env.merge(changes), subprotocols: %w[v1 v2])
      expect(connection.subprotocol).to eq "v2"
      expect(connection.output).to include "\r\nSec-WebSocket-Protocol: v2\r\n"
    end

    it "names no subprotocol if they have none in common, or the client has none" do
      [nil, "v3", ""].each do |offered|
        changes = { "HTTP_SEC_WEBSOCKET_PROTOCOL" => offered }
        connection = described_class.accept(env.merge(changes).compact, subprotocols: %w[v1 v2])
        expect(connection).to be_open.and have_attributes(subprotocol: nil)
        expect(connection.output).not_to include "Sec-WebSocket-Protocol"
      end
    end

    it "uses only extensions that it was asked to" do
      changes = { "HTTP_SEC_WEBSOCKET_EXTENSIONS" => "permessage-deflate" }
      expect(described_class.accept(env.merge(changes)).output)
        .not_to include "Sec-WebSocket-Extensions"
    end

    it "adds the server's headers, and refuses any that would end a line" do
      expect(described_class.accept(env, headers: { "Set-Cookie" => "a=b" }).output)
        .to end_with "\r\nSet-Cookie: a=b\r\n\r\n"
      [{ "a" => "b\r\nc: d" }, { "a\r\n" => "b" }, { "a b" => "c" }].each do |headers|
        expect { described_class.accept(env, headers:) }.to raise_error ArgumentError
      end
      expect { described_class.accept(env, subprotocols: ["a\r\nb"]) }.to raise_error ArgumentError
    end

    it "never raises for bytes from a client" do
      env.each_key do |name|
        ["\xff", "\xff,\x00", "", ",,,", "ü", "\r\n"].each do |value|
          [value, value.b].each do |wrong|
            connection = described_class.accept(env.merge(name => wrong), subprotocols: ["v1"])
            expect(connection).to be_open | be_closed
          end
        end
      end
    end
  end

  describe ".server" do
    it "accepts the request in pieces, and the bytes after it" do
      [1, 7, 1000].each do |size|
        connection = described_class.server
        received = (request.b + hello).scan(/.{1,#{size}}/mn).flat_map { connection.receive(_1) }
        expect(received.map(&:first)).to eq %i[open text]
        expect(received.last.last).to eq "Hello"
        expect(connection.output).to start_with "HTTP/1.1 101 "
      end
    end

    it "yields the request" do
      (_, head), = described_class.server.receive(request)
      expect(head).to have_attributes(request_method: "GET", target: "/chat?room=1", version: "1.1")
      expect(head["Origin"]).to eq "http://example.com"
    end

    it "takes a request that has been read already" do
      headers = { "host" => "a", "upgrade" => "websocket", "connection" => "upgrade",
                  "sec-websocket-key" => key, "Sec-WebSocket-Version" => "13" }
      request = described_class::Request.new("GET", "/", "1.1", headers)
      expect(described_class.server(request:)).to be_open
      request = described_class::Request.new("PUT", "/", "1.1", headers)
      expect(described_class.server(request:)).to be_closed
    end

    it "treats several headers of the same name as a list" do
      twice = request.sub("Connection: Upgrade", "Connection: keep-alive\r\nconnection: upgrade")
      expect(described_class.server.receive(twice)).to match [[:open, anything]]
    end

    it "answers a refused request with a complete HTTP response, and then ignores further bytes" do
      connection = described_class.server
      expect(connection.receive(request.sub("GET", "POST"))).to eq []
      head, body = connection.output.split("\r\n\r\n")
      expect(head).to start_with("HTTP/1.1 405 Method Not Allowed\r\n")
        .and include("\r\nallow: GET", "\r\nconnection: close",
                     "\r\ncontent-length: #{body.bytesize}")
      expect(connection).to be_closed
      expect(connection.error).to have_attributes(status: 405)
      expect { connection.receive(request) }.not_to(change { connection.output.bytesize })
    end

    it "refuses input that is not HTTP" do
      ["\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "\xff\x00\r\n\r\n",
       "GET / HTTP/1.1\r\n a: b\r\n\r\n", "GET / HTTP/1.1\r\na : b\r\n\r\n",
       "GET / HTTP/1.1\r\na: b\rc\r\n\r\n", "GET / HTTP/1.1\r\na: \x00\r\n\r\n"].each do |bytes|
        connection = described_class.server
        expect(connection.receive(bytes)).to eq []
        expect(connection.output).to start_with "HTTP/1.1 400 Bad Request\r\n"
      end
    end

    it "refuses a request that does not end" do
      connection = described_class.server
      connection.receive("GET / HTTP/1.1\r\n")
      1025.times { connection.receive("a: 0123456789\r\n") }
      expect(connection.error).to be_nil
      100.times { connection.receive("a: 0123456789\r\n") }
      expect(connection.output).to start_with "HTTP/1.1 431 "
    end

    it "keeps the bytes after the request when the block leaves early" do
      [-> { raise "x" }, -> { throw :left }].each do |leave|
        connection = described_class.server
        catch(:left) { connection.receive(request.b + hello) { leave.call } }
      rescue RuntimeError
        nil
      ensure
        expect(connection.receive(hello)).to eq [[:text, "Hello"]] * 2
      end
    end

    it "accepts nothing from a client after the block has raised or thrown" do
      [-> { raise "x" }, -> { throw :left }].each do |leave|
        connection = described_class.server { leave.call }
        catch(:left) { connection.receive(request.b + hello) }
      rescue RuntimeError
        nil
      ensure
        expect(connection.receive(hello)).to eq []
        expect(connection).to be_closed
        expect([connection.open?, connection.text("x"), connection.output]).to eq [false, false, ""]
      end
    end

    it "raises at once for unknown options" do
      expect { described_class.server(max_size: 1) }.to raise_error ArgumentError
      expect { described_class.client("ws://a", max_message_size: -1) }.to raise_error ArgumentError
    end

    it "passes limits on to the decoder" do
      connection = open_server(max_message_size: 4)
      expect(connection.receive(hello)).to eq []
      expect(connection.error).to be_a WsUnmask::MessageTooBigError
    end
  end

  describe ".client" do
    def request_of(url, **options)
      described_class.client(url, **options).output
    end

    it "asks for an upgrade" do
      lines = request_of("ws://server.example.com/chat?room=1").split("\r\n")
      expect(lines).to start_with("GET /chat?room=1 HTTP/1.1").and include(
        "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Version: 13"
      )
    end

    it "sends another key of 16 bytes each time" do
      keys = Array.new(20) { request_of("ws://a")[/^Sec-WebSocket-Key: (.*)\r/, 1] }
      expect(keys.uniq).to eq keys
      expect(keys.map { |key| key.unpack1("m0").bytesize }).to all eq 16
    end

    it "names the port if it is not the one of the scheme" do
      hosts = %w[ws://a ws://a:80 wss://a:443 ws://a:443 wss://a:80 ws://[::1]:9292/].map do |url|
        request_of(url)[/^Host: (.*)\r/, 1]
      end
      expect(hosts).to eq %w[a a a a:443 a:80 [::1]:9292]
    end

    it "asks for / if there is no path" do
      expect(request_of("ws://a")).to start_with "GET / HTTP/1.1\r\n"
      expect(request_of("ws://a?b")).to start_with "GET /?b HTTP/1.1\r\n"
    end

    it "refuses a URL that is not a WebSocket URL" do
      %w[http://a ws: a ws://a#b].each do |url|
        expect { request_of(url) }.to raise_error ArgumentError, /is not a WebSocket URL/
      end
    end

    it "sends a header that is given instead of its own, in whatever case" do
      hosts = described_class.client("ws://a", headers: { "host" => "b" }).output.scan(/^host:.*$/i)
      expect(hosts).to eq ["host: b\r"]
    end

    it "adds headers and subprotocols, and refuses any that would end a line" do
      request = request_of("ws://a", subprotocols: %w[v2 v1], headers: { "Origin" => "http://b" })
      expect(request).to include "\r\nSec-WebSocket-Protocol: v2, v1\r\n", "\r\nOrigin: http://b\r\n"
      [{ "a" => "b\nc" }, { "" => "b" }].each do |headers|
        expect { request_of("ws://a", headers:) }.to raise_error ArgumentError
      end
    end

    it "accepts the response in pieces, and the bytes after it" do
      [1, 7, 1000].each do |size|
        connection = described_class.client("ws://a")
        bytes = response_to(connection.output).b << "\x81\x05Hello".b
        received = bytes.scan(/.{1,#{size}}/mn).flat_map { connection.receive(_1) }
        expect(received.map(&:first)).to eq %i[open text]
        expect(received.first.last).to have_attributes(status: 101)
        expect(received.last.last).to eq "Hello"
      end
    end

    def error_after(**options)
      connection = described_class.client("ws://a", **options)
      response = yield connection.output
      connection.output.clear
      expect(connection.receive(response)).to eq []
      expect(connection).to be_closed
      expect(connection.output).to be_empty
      connection.error
    end

    it "fails for any other status, and reports the status and the headers" do
      error = error_after { "HTTP/1.1 302 Found\r\nLocation: ws://b/\r\n\r\n" }
      expect(error).to be_a(WsUnmask::HandshakeError).and have_attributes(
        status: 302, headers: { "location" => "ws://b/" }
      )
    end

    it "fails for a response that does not upgrade" do
      [/^Upgrade.*\r\n/, /^Connection.*\r\n/].each do |line|
        expect(error_after { |request| response_to(request).sub(line, "") }).to be
      end
    end

    it "fails for a missing or wrong Sec-WebSocket-Accept" do
      expect(error_after { |request| response_to(request).sub(/^Sec-WebSocket-A.*\r\n/, "") }).to be
      expect(error_after { |_| response_to("Sec-WebSocket-Key: #{key}") }).to be
    end

    it "fails for a subprotocol or an extension that it did not offer" do
      expect(error_after { |request| response_to(request, "Sec-WebSocket-Protocol: v1") }).to be
      error = error_after(subprotocols: ["v1"]) do |request|
        response_to(request, "Sec-WebSocket-Protocol: v1, v2")
      end
      expect(error).to be
      expect(error_after { |request| response_to(request, "Sec-WebSocket-Extensions: x") }).to be
    end

    it "knows the subprotocol" do
      connection = described_class.client("ws://a", subprotocols: %w[v1 v2])
      connection.receive(response_to(connection.output, "Sec-WebSocket-Protocol: v2"))
      expect(connection.subprotocol).to eq "v2"
    end

    it "fails for input that is not HTTP" do
      ["SSH-2.0-x\r\n\r\n", "HTTP/1.0 101 x\r\n\r\n", "HTTP/1.1 1\r\n\r\n"].each do |response|
        expect(error_after { response }).to be_a WsUnmask::HandshakeError
      end
    end

    it "masks every frame with a key that does not repeat" do
      connection = open_client
      keys = Array.new(200) do
        connection.text("Hello")
        _, length, key, masked = taken(connection).unpack("CCa4a*")
        expect(length).to eq 0x80 | 5
        expect(Client.mask(masked, key)).to eq "Hello"
        key
      end
      expect(keys.uniq.size).to be > 190
    end
  end

  describe "#receive" do
    it "yields messages, and joins fragments" do
      bytes = frame(:text, "Hel", fin: false) + frame(:continuation, "lo") + frame(:binary, "\xff")
      expect { |block| server.receive(bytes, &block) }
        .to yield_successive_args [:text, "Hello"], [:binary, "\xff".b]
    end

    it "returns itself with a block, and Arrays without one" do
      expect(server.receive(hello) { nil }).to equal server
      expect(server.receive(hello)).to eq [[:text, "Hello"]]
    end

    it "answers a ping with its payload, before the block gets it" do
      server.receive(frame(:ping, "abc")) do |type, payload|
        expect([type, payload]).to eq [:ping, "abc"]
        expect(taken(server)).to eq "\x8a\x03abc".b
      end
    end

    it "sends no pong after the close of another thread, wherever Ruby switches to it" do
      (1..10).each do |nth|
        server = open_server
        ping = frame(:ping, "a")
        switch = TracePoint.new(:c_return) { server.close if (nth -= 1).zero? }
        switch.enable { server.receive(ping) { nil } }
        server.close
        expect(server.output).to match(/\A(\x8a\x01a)?\x88\x02\x03\xe8\z/n)
      end
    end

    it "does not answer a pong" do
      expect(server.receive(frame(:pong, "abc"))).to eq [[:pong, "abc"]]
      expect(server.output).to be_empty
    end

    it "writes all replies to one read at once" do
      server.receive(frame(:ping, "a") + frame(:text, "b") + frame(:ping, "c")) do |type, payload|
        server.text(payload) if type == :text
      end
      expect(server.output).to eq "\x8a\x01a\x81\x01b\x8a\x01c".b
    end

    it "echoes the code and the reason of a close, and is closed" do
      close = frame(:close, [1001].pack("n") << "grüß".b)
      expect(server.receive(close)).to eq [[:close, WsUnmask::Close.new(1001, "grüß")]]
      expect(server.output).to eq "\x88\x08\x03\xe9gr\xc3\xbc\xc3\x9f".b
      expect(server).to be_closed
      expect(server).not_to be_open
      expect(server.error).to be_nil
    end

    it "answers an empty close with an empty one" do
      server.receive(frame(:close))
      expect(server.output).to eq "\x88\x00".b
    end

    it "ignores bytes after a close" do
      expect(server.receive(frame(:close) + hello).map(&:first)).to eq [:close]
      expect(server.receive(hello)).to eq []
      expect(server.output).to eq "\x88\x00".b
    end

    {
      "a frame without a mask" => ["\x81\x02ab".b, 1002],
      "a reserved bit" => [Client.frame(:text, "a").tap { |frame| frame.setbyte(0, 0xc1) }, 1002],
      "a continuation of nothing" => [Client.frame(:continuation, "a"), 1002],
      "text that is not UTF-8" => [Client.frame(:text, "\xff".b), 1007],
      "a message over the limit" => [Client.frame(:text, "a" * 101), 1009],
      "a close code that must not be sent" => [Client.frame(:close, [1005].pack("n")), 1002]
    }.each do |violation, (bytes, code)|
      it "closes with #{code} for #{violation}, and does not raise" do
        connection = open_server(max_message_size: 100)
        received = connection.receive(hello + bytes + hello)
        expect(received).to eq [[:text, "Hello"]]
        expect(connection.output.unpack("CxnA*").first(2)).to eq [0x88, code]
        expect(connection).to be_closed
        expect(connection.error).to be_a(WsUnmask::ProtocolError).and have_attributes(code:)
        expect { connection.receive(hello) }.not_to(change { connection.output.bytesize })
      end
    end

    it "closes with 1002 for a server's frame with a mask" do
      expect(client.receive("\x81\x01a".b + hello)).to eq [[:text, "a"]]
      expect(client.error).to have_attributes(message: "frame is masked", code: 1002)
      key, payload = taken(client).unpack("xxa4a*")
      expect(Client.mask(payload, key).unpack1("n")).to eq 1002
      expect(client).to be_closed
    end

    it "sends no second close for a violation after its own close" do
      server.close(1000)
      expect { server.receive("\x81\x02ab") }.not_to(change { server.output.bytesize })
      expect(server).to be_closed
    end

    it "passes on what its block raises, and continues with the next message" do
      error = WsUnmask::ProtocolError.new("of another connection")
      expect { server.receive(hello * 2) { raise error } }.to raise_error error
      expect(server).to be_open
      expect(server.receive("")).to eq [[:text, "Hello"]]
    end

    it "goes on after break" do
      server.receive(hello * 2) { break }
      expect(server.receive("")).to eq [[:text, "Hello"]]
    end
  end

  describe "#text, #binary, #ping and #close" do
    it "append frames to the output, without a mask for a server" do
      expect([server.text("grüß"), server.binary("\xff"), server.ping("p")]).to all be true
      expect(server.output).to eq "\x81\x06grüß\x82\x01\xff\x89\x01p".b
      expect(server.output.encoding).to eq Encoding::BINARY
    end

    it "append nothing after a close" do
      server.close
      expect { expect([server.text("a"), server.binary("a"), server.ping]).to all be false }
        .not_to(change { server.output })
    end

    it "refuse frames that no peer would accept" do
      expect { server.text("\xff") }.to raise_error ArgumentError
      expect { server.ping("a" * 126) }.to raise_error ArgumentError
      expect(server.output).to be_empty
    end

    it "raise before the handshake is complete" do
      connection = described_class.client("ws://a")
      [[:text, "a"], [:binary, "a"], [:ping], [:close]].each do |call|
        expect { connection.public_send(*call) }.to raise_error RuntimeError, /handshake/
      end
    end

    it "append nothing once the handshake was refused" do
      connection = described_class.accept({})
      expect([connection.text("a"), connection.close]).to eq [false, false]
    end
  end

  describe "#frame" do
    it "appends a frame as it is, whatever its encoding" do
      server.text("a")
      server.frame("\x81\x06grüß")
      server.binary("\xff")
      expect(server.output).to eq "\x81\x01a\x81\x06grüß\x82\x01\xff".b
      expect(server.output.encoding).to eq Encoding::BINARY
    end

    it "appends nothing after a close" do
      server.close
      expect { expect(server.frame("\x81\x01a")).to be false }.not_to(change { server.output })
    end

    it "reaches a client that compresses, between compressed messages" do
      client, server = connect(true, true)
      texts = ["Hello! " * 20, "Hello! " * 30, "Hello! " * 20]
      server.text(texts[0])
      server.frame(WsUnmask::Frame.encode(:text, texts[1]))
      server.text(texts[2])
      expect(client.receive(taken(server))).to eq(texts.map { |text| [:text, text] })
    end

    it "raises for a client, which masks each frame, and before the handshake" do
      expect { client.frame("\x81\x01a") }.to raise_error RuntimeError, /mask/
      expect { described_class.server.frame("\x81\x01a") }
        .to raise_error RuntimeError, /handshake/
    end
  end

  describe "#close" do
    it "begins the closing handshake, which the peer's close ends" do
      expect(server.close(1001, "bye")).to be true
      expect(taken(server)).to eq "\x88\x05\x03\xe9bye".b
      expect(server).not_to be_open
      expect(server).not_to be_closed
      expect(server.receive(hello + frame(:close, [1001].pack("n"))).map(&:first))
        .to eq %i[text close]
      expect(server).to be_closed
      expect(server.output).to be_empty
    end

    it "is sent once" do
      server.close(1001)
      expect(server.close(1000)).to be false
      expect(server.output).to eq "\x88\x02\x03\xe9".b
    end

    it "stays open if the code or the reason must not be sent" do
      [[1005, ""], [999, ""], [1000, "\xff"], [1000, "a" * 124], [nil, "a"]].each do |code, reason|
        expect { server.close(code, reason) }.to raise_error ArgumentError
      end
      expect(server).to be_open
      expect(server.output).to be_empty
    end

    it "sends no code for nil" do
      server.close(nil)
      expect(server.output).to eq "\x88\x00".b
    end
  end

  describe "#flush" do
    before { server.text("Hello") }

    let(:bytes) { "\x81\x05Hello".b }

    it "stops if nothing could be written, and goes on later" do
      [nil, 0, :wait_writable].each { |count| expect(server.flush { count }).to be false }
      written = +""
      expect(server.flush { |rest| (written << rest) && rest.bytesize }).to be true
      expect(written).to eq bytes
    end

    it "raises for a block that does not say how much it has written" do
      expect { server.flush { |rest| [rest] } }
        .to raise_error TypeError, "the block of flush must return the number of bytes written, " \
                                   "not an instance of Array"
    end

    it "raises for a block that has written more than there was, and loses nothing" do
      expect { server.flush { |rest| rest.bytesize + 1 } }.to raise_error ArgumentError
      expect { server.flush { -1 } }.to raise_error ArgumentError
      written = +""
      server.flush { |rest| (written << rest) && rest.bytesize }
      expect(written).to eq bytes
    end

    it "yields all bytes to write, once" do
      written = []
      flush = -> { server.flush { |bytes| (written << bytes.dup).last.bytesize } }
      expect([flush.call, flush.call]).to eq [true, true]
      expect(written).to eq [bytes]
      expect(server.output).to be_empty
    end

    it "yields again what was not written" do
      written = "".b
      expect(server.flush { |bytes| (written << bytes.byteslice(0, 3)) && bytes[0, 3].bytesize })
        .to be true
      expect(written).to eq bytes
    end

    it "keeps the order when nothing can be written for a while" do
      expect(server.flush { :wait_writable }).to be false
      server.text("again")
      written = "".b
      expect(server.flush { |bytes| (written << bytes) && bytes.bytesize }).to be true
      expect(written).to eq "\x81\x05Hello\x81\x05again".b
    end

    it "yields bytes that were appended meanwhile" do
      written = []
      server.flush do |bytes|
        server.text("again") if written.empty?
        (written << bytes.dup).last.bytesize
      end
      expect(written).to eq [bytes, "\x81\x05again".b]
    end

    it "keeps the bytes of a write that has raised" do
      expect { server.flush { raise IOError } }.to raise_error IOError
      expect(server.flush { |again| expect(again).to eq bytes and again.bytesize }).to be true
    end

    it "can be called again wherever Thread#raise or a timeout has interrupted it" do
      this = Thread.current
      connection = server
      (1..20).each do |nth|
        interruption = TracePoint.new(:c_call, :c_return) do
          raise "interrupted" if Thread.current == this && (nth -= 1).zero?
        end
        connection.text("Hello")
        begin
          interruption.enable { connection.flush(&:bytesize) }
        rescue RuntimeError
          nil
        end
        connection.flush(&:bytesize)
        expect(connection.inspect).to match(/ 0 bytes to write/)
      end
    end

    it "does not write in two threads at once" do
      inside = Queue.new
      go_on = Queue.new
      writer = Thread.new do
        server.flush do |bytes|
          inside << bytes.dup
          go_on.pop
          bytes.bytesize
        end
      end
      inside.pop
      server.text("again")
      expect(server.flush { raise "not reached" }).to be true
      2.times { go_on << nil }
      expect(inside.pop).to eq "\x81\x05again".b
      expect(writer.value).to be true
    end
  end

  # Eight threads that send until the close, in turn with one that closes.
  def sent_by_threads(connection, write)
    threads = Array.new(8) do |thread|
      Thread.new do
        (0..).find do |number|
          connection.flush(&write)
          !connection.text("#{thread} #{number} #{"x" * (number % 300)}")
        end
      end
    end
    sleep 0.2
    connection.close
    threads.map(&:value)
  end

  {
    "a server" => ->(example) { [example.open_server, example.open_client] },
    "a client" => ->(example) { [example.open_client, example.open_server] },
    "a client that compresses" => ->(example) { example.connect(true, true) }
  }.each do |role, ends|
    it "sends every message of several threads of #{role} once and in order, and then the close" do
      sender, receiver = *ends.call(self)
      pipe, writer = IO.pipe.each(&:binmode)
      reader = Thread.new { pipe.read }
      write = ->(bytes) { writer.write_nonblock(bytes, exception: false) }
      sent = sent_by_threads(sender, write)
      sender.flush { |bytes| writer.write(bytes) }
      writer.close
      numbers = Array.new(sent.size) { [] }
      receiver.receive(reader.value) do |type, text|
        next if type == :close

        thread, number, = text.unpack("A2A*").map(&:to_i)
        numbers[thread] << number
      end
      expect(receiver.error).to be_nil
      expect(numbers).to eq(sent.map { |count| [*0...count] })
    end
  end

  it "exchanges messages of any size with itself, in chunks of any size" do
    random = Random.new(RSpec.configuration.seed)
    one = open_client
    other = open_server
    sent = Array.new(300) do
      size = [random.rand(0..130), random.rand(65_500..65_600)].sample(random:)
      [[:text, "ü" * (size / 2)], [:binary, random.bytes(size)], [:ping, random.bytes(size % 126)]]
        .sample(random:)
    end
    received = []
    sent.each_slice(7) do |messages|
      messages.each { |type, payload| one.public_send(type, payload) }
      cut(taken(one), random:).each { |piece| received.concat(other.receive(piece)) }
      pongs = cut(taken(other), random:).flat_map { |piece| one.receive(piece) }
      expect(pongs).to eq(messages.filter_map { |type, payload| [:pong, payload] if type == :ping })
    end
    expect(received).to eq sent
    expect([one.error, other.error]).to eq [nil, nil]
  end

  context "with compression" do
    def size_of(message, sender, receiver)
      sender.text(message)
      bytes = taken(sender)
      expect(receiver.receive(bytes)).to eq [[:text, message]]
      bytes.bytesize
    end

    let(:message) { "grüß dich " * 100 }

    it "compresses in both directions if both ends want to" do
      client, server = connect(true, true)
      [[client, server], [server, client]].each do |sender, receiver|
        sizes = Array.new(2) { size_of(message, sender, receiver) }
        expect(sizes.first).to be < 100
        expect(sizes.last).to be < sizes.first # it refers to the first
      end
    end

    it "uses the parameters it is given" do
      client, server = connect(true, WsUnmask::Deflate.new(server_no_context_takeover: true))
      sizes = Array.new(2) { size_of(message, server, client) }
      expect(sizes.uniq.size).to eq 1
    end

    it "does not compress unless both ends want to" do
      [[true, nil], [nil, true]].each do |wanted|
        client, server = connect(*wanted)
        expect(size_of(message, client, server)).to be > message.bytesize
      end
    end

    it "refuses a malformed offer with 400, and a response that does not match" do
      env["HTTP_SEC_WEBSOCKET_EXTENSIONS"] = "permessage-deflate; ="
      expect(described_class.accept(env, deflate: true).rejection.first).to eq 400
      ["permessage-deflate; x", "x", "permessage-deflate, x", "=",
       "permessage-deflate, permessage-deflate"].each do |extensions|
        client = described_class.client("ws://a", deflate: true)
        client.receive(response_to(client.output, "Sec-WebSocket-Extensions: #{extensions}"))
        expect(client.error).to be_a WsUnmask::HandshakeError
      end
    end

    it "closes with 1009 for a message that inflates to more than the limit" do
      server = described_class.server(deflate: true, max_message_size: 100)
      client = described_class.client("ws://a", deflate: true)
      server.receive(taken(client))
      client.receive(taken(server))
      client.text("a" * 101)
      server.receive(taken(client))
      expect(server.output.unpack1("xxn")).to eq 1009
    end
  end

  describe "what an attacker may send" do
    it "is headers that are long, and right or wrong at their end" do
      ["X:#{" " * 15_000}\x01", "X:a#{" " * 15_000}a", "X:#{"\t " * 7000}"].each do |header|
        connection = described_class.server
        Timeout.timeout(5) { connection.receive("GET / HTTP/1.1\r\n#{header}\r\n\r\n") }
        expect(connection.rejection.first).to eq 400
      end
    end

    it "is a status that is not a decimal number" do
      %w[099 010 08x].each do |status|
        client = described_class.client("ws://a/")
        client.receive("HTTP/1.1 #{status} X\r\n\r\n")
        expect(client.error).to be_a WsUnmask::HandshakeError
      end
    end

    it "is an endless series of pings, not all of which get a reply while nothing is written" do
      100.times { server.receive(frame(:ping, "x" * 125) * 1000) }
      expect(server.output.bytesize).to be < 1 << 20
      server.output.clear
      server.receive(frame(:ping, "again"))
      expect(server.output).to end_with "again"
    end
  end

  describe "the block of :open" do
    let(:request) { described_class.client("ws://a").output }

    it "must not call receive, and gets each message once" do
      events = []
      server = described_class.server
      expect do
        server.receive(request + hello) { |type,| events << type and server.receive("") }
      end.to raise_error(RuntimeError, /from the block/)
      server.receive("") { |type,| events << type }
      expect(events).to eq %i[open text]
    end

    it "keeps none of the bytes that came with the request" do
      server = described_class.server
      server.receive(request + frame(:binary, "x" * 1_000_000)) { nil }
      kept = server.instance_variables.map { |name| server.instance_variable_get(name) }
      expect(kept.grep(String).sum(&:bytesize)).to be < 1000
    end

    it "may raise before bytes of any encoding" do
      server = described_class.server
      expect { server.receive("#{request}\x82".b) { raise "no" } }.to raise_error("no")
      expect(server.receive("\x80\x00\x00\x00\x00é".dup)).to eq [[:binary, "".b]]
    end
  end

  it "sends headers that are not ASCII, and stays binary" do
    server = described_class.server(headers: { "X-N" => "é" })
    server.receive(described_class.client("ws://a").output + frame(:ping, "\xff".b))
    server.close
    expect(server.output.encoding).to be Encoding::BINARY
    expect(server.output).to include "é".b
  end

  describe "#inspect" do
    it "shows the state" do
      expect(described_class.server.inspect).to match(/connecting, 0 bytes to write>/)
      expect(server.inspect).to match(/ open, /)
      server.close
      expect(server.inspect).to match(/closing, 4 bytes/)
      server.receive(frame(:close))
      expect(server.inspect).to match(/ closed, /)
    end
  end
end
