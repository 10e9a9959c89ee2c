# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require "stringio"
require "tempfile"
require "ws_unmask/cli"
require_relative "support/child"
require_relative "support/frames"
require_relative "support/zlib_peer"

RSpec.describe WsUnmask::CLI do
  include Child
  include Frames

  def ws_unmask(*arguments, input: "")
    out = StringIO.new
    err = StringIO.new
    status = described_class.new(out:, err:, input: StringIO.new(input)).run(arguments)
    [status, out.string, err.string]
  end

  def decode(bytes, *arguments)
    ws_unmask("decode", *arguments, "-", input: bytes)
  end

  it "is a command" do
    root = File.expand_path("..", __dir__)
    output, status = Open3.capture2e(RbConfig.ruby, "-I#{root}/lib", "#{root}/exe/ws_unmask",
                                     "decode", "-", stdin_data: "818537fa213d7f9f4d5158")
    expect(output).to match(/\A\s+0  text +fin +masked +5 bytes  "Hello"\n\z/)
    expect(status.exitstatus).to eq 0
  end

  it "decodes bytes, hexadecimal digits in any layout, and files" do
    expected = decode(hello)
    expect(expected.first).to eq described_class::OK
    ["818537fa213d7f9f4d5158\n", "81 85 37 fa 21 3d 7f 9f 4d 51 58", "81:85:37:fa:21:3d:7f9f4d5158",
     "0x81,0x85,0x37,0xfa,0x21,0x3d,0x7f,0x9f,0x4d,0x51,0x58"].each do |digits|
      expect(decode(digits)).to eq expected
      expect(decode(digits, "--hex")).to eq expected
    end
    Tempfile.create do |file|
      File.binwrite(file.path, hello)
      expect(ws_unmask("decode", file.path)).to eq expected
    end
  end

  it "reads digits as bytes with --raw" do
    status, out, = decode("81", "--raw", "--from", "server")
    expect(status).to eq described_class::FOUND
    expect(out).to include "reserved"
  end

  it "shows each frame in a line with its offset, as text or JSON" do
    bytes = hello + frame(:binary, "\xff\x00", fin: false) + frame(:ping, "p") +
            frame(:continuation, "x" * 200) + frame(:close, [1000, "bye"].pack("na*"))
    status, out, = decode(bytes)
    expect(status).to eq described_class::OK
    expect(out.lines.map { |line| line.split.first(2) })
      .to eq [%w[0 text], %w[11 binary], %w[19 ping], %w[26 continuation], %w[234 close]]
    expect(out).to include "ff00", "1000 \"bye\"", "..."
    objects = decode(bytes, "--json")[1].lines.map { |line| JSON.parse(line) }
    expect(objects.first).to eq("offset" => 0, "type" => "text", "fin" => true, "reserved" => [],
                                "masked" => true, "length" => 5, "payload" => "Hello")
    expect(objects[1]).to include("fin" => false, "payload_hex" => "ff00")
  end

  it "reports a protocol violation with its offset" do
    status, out, = decode(hello + "\xc1\x80\0\0\0\0".b)
    expect(status).to eq described_class::FOUND
    expect(out.lines.last).to start_with("at byte 11: ").and include("(close code 1002)")
    cut = frame(:text, "gr\xc3", fin: false) + frame(:continuation, "xx")
    expect(decode(cut)[1].lines.size).to eq 2
    expect(decode(cut)[1].lines.last).to start_with("at byte 15: ").and include("1007")
    expect(JSON.parse(decode("\x81\x05Hello",
                             "--json")[1])).to include("offset" => 1, "code" => 1002)
  end

  it "says that the capture begins with the handshake" do
    { "GET /chat HTTP/1.1\r\n\r\n" => "request",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n" => "response" }.each do |head, kind|
      status, out, err = decode(head + hello)
      expect([status, out]).to eq [described_class::USAGE, ""]
      expect(err).to include "begins with an HTTP #{kind}; pass the bytes after the blank line"
    end
    expect(decode(hello.b + "GET / HTTP/1.1".b)[1]).to include "at byte 11: reserved bits are set"
  end

  it "reports an unexpected end of input inside a frame" do
    status, out, = decode(hello + hello.byteslice(0, 7))
    expect(status).to eq described_class::FOUND
    expect(out.lines.last)
      .to eq "at byte 11: unexpected end of input inside a frame, 7 bytes into it\n"
  end

  it "suggests the option that is missing" do
    expect(decode("\x81\x05Hello")[1]).to include "use --from server"
    expect(decode("\xc1\x80\0\0\0\0".b)[1]).to include "use --allow-reserved 1 if"
    expect(decode("\x83\x80\0\0\0\0".b)[1]).not_to include "use --"
  end

  it "notes what follows a close frame, which is not an error" do
    status, out, = decode("#{frame(:close, [1000, "bye"].pack("na*"))}more", "--json")
    expect(status).to eq described_class::OK
    expect(out.lines.map { |line| JSON.parse(line) })
      .to match [include("type" => "close", "code" => 1000, "reason" => "bye"),
                 include("offset" => 11, "note" => start_with("4 bytes after the close frame"))]
  end

  it "decodes hexadecimal digits in chunks of any size" do
    digits = "0x81 85:0x00,00 0000 #{"41" * 5}"
    expected = [described_class::OK, /text .* "AAAAA"/]
    (1..digits.size).each do |size|
      input = StringIO.new(digits)
      input.define_singleton_method(:readpartial) { |_, buffer| super(size, buffer) }
      out = StringIO.new
      status = described_class::Decode.new(out, format: :hex).run(input)
      expect([status, out.string]).to match expected
    end
  end

  describe "as a process" do
    root = File.expand_path("..", __dir__)
    command = [RbConfig.ruby, "-I#{root}/lib", "#{root}/exe/ws_unmask", "decode", "-"]

    it "shows a frame before the next one arrives" do
      Open3.popen2(*command) do |input, output,|
        input.binmode.write(hello)
        input.flush
        expect(output.wait_readable(10) && output.gets).to include '"Hello"'
        input.write(frame(:text, "again"))
        input.close
        expect(output.gets).to include '"again"'
      end
    end

    it "keeps neither the stream nor its frames in memory" do
      script = <<~RUBY
        require "ws_unmask/cli"
        frame = WsUnmask::Frame.encode(:text, "x" * 4000, mask: "key!")
        left = (100 << 20) / frame.bytesize
        input = Object.new
        input.define_singleton_method(:binmode) { self }
        input.define_singleton_method(:readpartial) { |_, _| (left -= 1) < 0 ? raise(EOFError) : frame.dup }
        out = File.open(File::NULL, "w")
        WsUnmask::CLI.new(out:, input:).run(%w[decode -])
        puts File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1]
      RUBY
      expect(in_child(script).to_i).to be < 64 << 10
    end

    it "exits silently if its output is closed, and on Ctrl-C" do
      Open3.popen3(*command) do |input, output, error, thread|
        output.close
        input.binmode.write(hello)
        input.close
        expect(error.read).to eq ""
        expect(thread.value.termsig).to eq Signal.list["PIPE"]
      end
      Open3.popen3(*command) do |input, output, error, thread|
        input.binmode.write(hello)
        input.flush
        output.gets
        Process.kill(:INT, thread.pid)
        expect(error.read).to eq ""
      end
    end

    it "reports a write error, without the usage" do
      skip "there is no /dev/full" unless File.exist?("/dev/full")
      error, status = Open3.capture2e("sh", "-c", 'exec "$@" >/dev/full', "sh", *command,
                                      stdin_data: hello)
      expect(error).to match(/\Aws_unmask: No space left on device.*\n\z/)
      expect(status.exitstatus).to eq described_class::FAILED
    end
  end

  context "with --deflate" do
    # The compressed "Hello" of RFC 7692, section 7.2.3.1, in two fragments; and a message that is
    # not compressed.
    let(:stream) do
      payload = ["f248cdc9c90700"].pack("H*")
      frame(:text, payload.byteslice(0, 3), fin: false, rsv1: true) + frame(:ping, "?") +
        frame(:continuation, payload.byteslice(3..)) + frame(:text, "as it is") +
        frame(:binary, ZlibPeer.new.deflate("\xff" * 100), rsv1: true) + frame(:close)
    end

    it "shows a compressed message with its last frame" do
      status, out, = decode(stream, "--deflate")
      expect(status).to eq described_class::OK
      expect(out.lines.map { |line| line.split(" bytes  ").last.strip })
        .to eq ["f248cd", '"?"', 'inflated to 5 bytes: "Hello"', '"as it is"',
                "inflated to 100 bytes: #{"ff" * 30}...", '""']
      _, json, = decode(stream, "--deflate", "--json")
      expect(json.lines.map { |line| JSON.parse(line).values_at("inflated", "inflated_hex") })
        .to eq [[nil, nil], [nil, nil], ["Hello", nil], [nil, nil], [nil, "ff" * 100], [nil, nil]]
    end

    it "shows what a server has sent" do
      bytes = ["c107f248cdc9c90700c105f200110000"].pack("H*")
      _, out, = decode(bytes, "--deflate", "--raw", "--from", "server")
      expect(out.lines).to all end_with %(inflated to 5 bytes: "Hello"\n)
    end

    it "reports the message that cannot be inflated, with its offset" do
      status, out, = decode(stream + frame(:binary, "x", rsv1: true), "--deflate")
      expect(status).to eq described_class::OK
      expect(out).to include "after the close frame"
      status, out, = decode(frame(:ping) + frame(:binary, "\xff", rsv1: true), "--deflate")
      expect(status).to eq described_class::FOUND
      expect(out).to include "at byte 12: message is not valid DEFLATE (close code 1007)"
    end

    it "is suggested when RSV1 is refused" do
      expect(decode(stream)[1]).to end_with "or --deflate if it was permessage-deflate\n"
      expect(decode("\xc9\x80\0\0\0\0".b, "--deflate")[1]).not_to include "or --deflate"
    end
  end

  it "accepts a server's frames, and the reserved bits of extensions" do
    expect(decode("\x81\x05Hello", "--from", "server").first).to eq described_class::OK
    status, out, = decode("\xc1\x80\0\0\0\0".b, "--allow-reserved", "1")
    expect(status).to eq described_class::OK
    expect(out).to include "rsv1"
  end

  it "prints the usage for wrong arguments" do
    [[], ["bogus"], ["decode"], %w[decode no-such-file], %w[decode --bogus -],
     %w[decode --allow-reserved 4 -], %w[doctor too much]].each do |arguments|
      status, out, err = ws_unmask(*arguments)
      expect([status, out]).to eq [described_class::USAGE, ""]
      expect(err).to start_with("ws_unmask").and include("ws_unmask help")
    end
    expect(decode("no digits", "--hex")[2]).to include '"n" is not a hexadecimal digit'
    expect(decode("818", "--hex")[2]).to include "odd number of hexadecimal digits"
    expect(ws_unmask("doctor", "--hex")[2]).to include("ws_unmask doctor: ", "help doctor")
    expect(ws_unmask("decode", "--speed", "-")[2]).to include("ws_unmask decode: ", "help decode")
    expect(ws_unmask("help", "decode")).to eq ws_unmask("decode", "--help")
    expect(ws_unmask("help", "decode")[1]).to include "Exit status: 0"
    expect(ws_unmask("--help")[1]).to include "ws_unmask help [COMMAND]"
    expect(ws_unmask("--version")[1]).to eq "ws_unmask #{WsUnmask::VERSION}\n"
  end
end
