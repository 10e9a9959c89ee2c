# frozen_string_literal: true

require_relative "../../support/io_stream"
require_relative "../../support/traffic"
require_relative "../../support/with_and_without"

begin
  require "io/stream"
  require "protocol/websocket"
rescue LoadError
  # They want a newer Ruby than some that ws_unmask runs on.
end

# How frames and messages are read from the streams that Falcon has.
RSpec.describe "ws_unmask/protocol_websocket's reading" do
  unless defined?(Protocol::WebSocket) && defined?(IO::Stream)
    it("takes over that of a stream") { skip "io-stream is not installed: `rake matrix` has it" }
    next
  end

  require "ws_unmask/protocol_websocket"
  include Traffic
  include IOStreams
  include_context "with and without", WsUnmask::ProtocolWebSocket

  let(:native) { WsUnmask.const_get(:Native) }
  let(:library) { Protocol::WebSocket }

  def framer_of(*pieces)
    Protocol::WebSocket::Framer.new(io_stream(pieces))
  end

  def connection_of(*pieces)
    Protocol::WebSocket::Connection.new(framer_of(*pieces))
  end

  def described(frame)
    [frame.class, frame.to_ary, frame.length, frame.payload.encoding, frame.instance_variables]
  end

  # Everything read until the end of the stream or of the connection.
  def life(random)
    frames = random_frames(random, masked: random.rand(5).positive?)
    pieces = [frames, [frames.join], cut(frames.join, random:)].sample(random:)
    stream = io_stream(pieces)
    framer = Protocol::WebSocket::Framer.new(stream)
    lines = []
    begin
      send(%i[frames messages both_kinds].sample(random:), framer, random) { |line| lines << line }
    rescue StandardError => e
      lines << [e.class, e.message]
    end
    lines << stream.io.written << (stream.closed? ? nil : stream.read)
  end

  def frames(framer, random)
    most = [nil, nil, 100, 126, 70_000].sample(random:)
    loop { yield described(framer.read_frame(*most)) }
  end

  def messages(framer, random)
    connection = Protocol::WebSocket::Connection.new(framer, mask: [nil, "mask"].sample(random:))
    connection.reserve!(4) if random.rand(8).zero?
    while (message = connection.read)
      yield [message.class, message.buffer, message.buffer.encoding, message.buffer.frozen?]
      message.send(connection) if random.rand(3).zero?
    end
  end

  def both_kinds(framer, random)
    connection = Protocol::WebSocket::Connection.new(framer)
    20.times do
      if random.rand(2).zero?
        yield [connection.read&.buffer, connection.frames.size]
      else
        connection.read_frame { |frame| yield described(frame) }
      end
    end
  end

  it "changes nothing for random traffic in chunks of any size" do
    expect_no_difference { |random| life(random) }
  end

  it "takes a message out of the stream in one native call" do
    expect(native).to receive(:take_message).twice.and_call_original # once while it is empty
    expect(native).not_to receive(:take_frame)
    expect(connection_of(hello).read.buffer).to eq "Hello"
  end

  it "leaves the following bytes in the stream" do
    stream = io_stream(["#{hello}rest".b])
    message = library::Connection.new(library::Framer.new(stream)).read
    expect([message.buffer, stream.read]).to eq %w[Hello rest]
  end

  it "loses nothing of a stream if waiting is interrupted anywhere in a frame" do
    bytes = frame(:text, "grüß " * 40)
    (1...bytes.bytesize).each do |at|
      framer = framer_of(bytes.byteslice(0, at), IOError, bytes.byteslice(at..), hello)
      expect { framer.read_frame }.to raise_error(IOError)
      expect(Array.new(2) { framer.read_frame.unpack.b }).to eq [("grüß " * 40).b, "Hello"]
    end
  end

  it "closes the connection for an error of the stream, as the library does" do
    ours, theirs = both do
      stream = io_stream([hello.byteslice(0, 3), IOError])
      connection = library::Connection.new(library::Framer.new(stream))
      error = begin
        connection.read
      rescue IOError => e
        e.message
      end
      [error, connection.closed?, stream.io.written, stream.closed?]
    end
    expect(ours).to eq theirs
    expect(ours).to include true
  end

  it "reads from a stream of another kind as before" do
    ours, theirs = both { library::Framer.new(StringIO.new(hello)).read_frame.to_ary }
    expect(ours).to eq theirs
  end

  it "leaves a caller's limit that is huge or none to the library" do
    [2**64, 2**70, -1, nil, 1.5, 1e9].each do |most|
      ours, theirs = both do
        described(framer_of(hello).read_frame(most))
      rescue StandardError => e
        [e.class, e.message]
      end
      expect(ours).to eq theirs
    end
  end

  it "makes objects of the caller's own classes" do
    own = Class.new(library::TextFrame)
    framer = library::Framer.new(io_stream([hello]), library::FRAMES.merge(1 => own))
    expect(framer.read_frame).to be_instance_of own
  end

  describe "hooks" do
    def self.methods_of_the_library
      websocket = Protocol::WebSocket
      { websocket::Frame => %i[initialize unpack],
        websocket::TextFrame => %i[apply read_message unpack],
        websocket::Framer => %i[read_frame],
        websocket::Connection => %i[read read_frame receive_text unpack_frames] }
    end

    # Reads before and after a hook comes.
    def calls_of(hooked, name)
      calls = 0
      hook = Module.new { define_method(name) { |*a, **o, &b| (calls += 1) && super(*a, **o, &b) } }
      connection = connection_of(hello * 2)
      messages = [connection.read.buffer]
      yield hooked, hook, connection
      [*messages, connection.read.buffer, connection_of(hello).read.buffer, calls]
    end

    methods_of_the_library.each do |owner, names|
      names.each do |name|
        it "by prepend see every call of #{owner}##{name}" do
          ours, theirs = both do
            undo = nil
            calls_of(owner, name) do |hooked, hook|
              undo = -> { hook.send(:remove_method, name) }
              hooked.prepend(hook)
            end
          ensure
            undo&.call
          end
          expect(ours).to eq theirs
          expect(ours.last).to be_positive
        end
      end
    end

    it "by extend see the calls of a connection and of a framer" do
      ours, theirs = both do
        [calls_of(nil, :receive_text) { |_, hook, connection| connection.extend(hook) },
         calls_of(nil, :read_frame) { |_, hook, connection| connection.framer.extend(hook) }]
      end
      expect(ours).to eq theirs
      expect(ours.map(&:last)).to all be_positive
    end
  end

  describe ".limit" do
    after { WsUnmask::ProtocolWebSocket.limit }

    def outcome(*pieces)
      connection_of(*pieces).then { |connection| Array.new(pieces.size) { connection.read.buffer } }
    rescue Protocol::WebSocket::ProtocolError => e
      e.code
    end

    def fragments(*payloads, type: :text)
      payloads.each_with_index.map do |payload, i|
        frame(i.zero? ? type : :continuation, payload, fin: i == payloads.size - 1)
      end.join
    end

    it "fails a message over a limit with code 1009, as soon as a header says so" do
      WsUnmask::ProtocolWebSocket.limit(max_frame_size: 300, max_message_size: 500)
      { hello => ["Hello"], frame(:text, "x" * 300) => ["x" * 300],
        frame(:text, "x" * 301).byteslice(0, 8) => 1009,
        fragments("x" * 300, "x" * 200) => ["x" * 500],
        fragments("x" * 300, "x" * 201).byteslice(0, 330) => 1009,
        fragments("x" * 300, "x" * 200, "x") => 1009,
        frame(:text, "x" * 300, fin: false) + frame(:ping, "p" * 125) +
          frame(:continuation, "x" * 200) => ["x" * 500] }.each do |bytes, expected|
        expect(outcome(bytes)).to eq(expected), bytes.byteslice(0, 10).inspect
      end
    end

    it "refuses invalid sizes, and accepts all others" do
      [-1, 1.5, "5"].each do |size|
        %i[max_frame_size max_message_size].each do |name|
          expect { WsUnmask::ProtocolWebSocket.limit(name => size) }
            .to raise_error(ArgumentError, /\A#{name} must be an Integer of bytes/)
        end
      end
      WsUnmask::ProtocolWebSocket.limit(max_frame_size: 2**64, max_message_size: 2**70)
      expect(outcome(hello)).to eq ["Hello"]
    end

    it "applies to other kinds of streams, too" do
      WsUnmask::ProtocolWebSocket.limit(max_frame_size: 3)
      framer = library::Framer.new(StringIO.new(frame(:ping, "pings") + hello))
      expect(framer.read_frame.length).to eq 5
      expect { framer.read_frame }.to raise_error(library::ProtocolError, /over 3 bytes/)
    end

    it "counts each message by itself" do
      WsUnmask::ProtocolWebSocket.limit(max_message_size: 5)
      expect(outcome(hello, fragments("He", "llo"), hello)).to eq ["Hello"] * 3
    end

    it "checks a text's fragments when they arrive, with code 1007" do
      WsUnmask::ProtocolWebSocket.limit(validate_utf8: true)
      text = "aß水𐀀".b
      (1...text.bytesize).each do |at|
        pieces = [text.byteslice(0, at), text.byteslice(at..)]
        expect(outcome(fragments(*pieces))).to eq [text.dup.force_encoding("UTF-8")]
      end
      ["\xff", "a\xc0", "\xed\xa0", "\xf4\x90"].each do |wrong|
        expect(outcome(frame(:text, wrong.b, fin: false))).to eq 1007
        expect(outcome(fragments(wrong.b, "", type: :binary))).to eq [wrong.b]
      end
    end

    it "raises if ws_unmask does not replace the library's reading" do
      WsUnmask::ProtocolWebSocket.uninstall
      expect { WsUnmask::ProtocolWebSocket.limit(max_frame_size: 1) }
        .to raise_error(/cannot limit this version/)
      WsUnmask::ProtocolWebSocket.install
    end
  end
end
