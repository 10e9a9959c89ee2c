# frozen_string_literal: true

require "ws_unmask/websocket"
require_relative "../support/with_and_without"
require_relative "../support/traffic"

# The websocket gem itself, with ws_unmask and without.
RSpec.describe "ws_unmask/websocket" do
  include Traffic

  include_context "with and without", WsUnmask::WebSocketGem

  # websocket-client-simple sets it for everybody.
  before { WebSocket.should_raise = false }

  def masked(bytes)
    WebSocket::Frame::Data.new(bytes).tap(&:set_mask)
  end

  it "is active" do
    expect(WsUnmask.installed).to include :websocket
    getbytes = WebSocket::Frame::Data.instance_method(:getbytes)
    expect(getbytes.source_location.first).to include "ws_unmask/integrations"
  end

  it "returns the same bytes for any place and length" do
    bytes = Random.bytes(300)
    [[0, 0], [0, 300], [4, 296], [5, 17], [4, 1000], [300, 1], [301, 1], [-3, 2]].each do |place|
      ours, theirs = both { masked(bytes).getbytes(*place).then { |got| [got, got.encoding] } }
      expect(ours).to eq(theirs), "#{place}: #{ours}, #{theirs}"
      ours, theirs = both { WebSocket::Frame::Data.new(bytes).getbytes(*place) }
      expect(ours).to eq theirs
    end
  end

  it "changes nothing for random traffic of any draft, in chunks of any size" do
    expect_no_difference do |random|
      role, version, masked = [[:Server, 13, true], [:Server, 13, true], [:Client, 13, false],
                               [:Client, 13, true], [:Server, 5, true], [:Client, 0, false]]
                              .sample(random:)
      incoming = WebSocket::Frame::Incoming.const_get(role).new(version:)
      received(incoming, cut(random_frames(random, masked:).join, random:))
    end
  end

  def received(incoming, pieces)
    pieces.flat_map do |piece|
      incoming << piece.dup.force_encoding([Encoding::BINARY, Encoding::UTF_8][piece.size % 2])
      frames = []
      while (frame = incoming.next)
        frames << [frame.class, frame.type, frame.to_s.hash, frame.to_s.encoding, frame.code,
                   frame.version, frame.next]
      end
      frames << incoming.error << incoming.data.hash << incoming.data.encoding
    end
  end

  # Feeds a byte after the other.
  # @return [Integer] how often the library looks at a header
  def looks_at_headers(bytes)
    incoming = WebSocket::Frame::Incoming::Client.new(version: 13)
    looks = 0
    method = WebSocket::Frame::Handler::Handler03.instance_method(:decode_header)
    trace = TracePoint.new(:call) { looks += 1 }
    trace.enable(target: method) do
      bytes.each_char { |byte| incoming << byte and incoming.next }
    end
    looks
  end

  it "does not look at a header again while the frame is not complete" do
    bytes = "\x82\x7e\x03\xe8".b + Random.bytes(1000)
    ours, theirs = both { looks_at_headers(bytes) }
    expect([ours, theirs]).to eq [2, 1003]
  end

  it "decodes bytes that replace an incomplete frame" do
    ours, theirs = both do
      incoming = WebSocket::Frame::Incoming::Client.new(version: 13)
      incoming << "\x82\x7e\x03\xe8more".b
      incoming.next
      incoming.data.clear
      incoming << "\x82\x02Hi".b
      incoming.next.to_s
    end
    expect([ours, theirs]).to eq %w[Hi Hi]
  end

  it "respects the limit for frames" do
    limit = WebSocket.max_frame_size
    WebSocket.max_frame_size = 20
    ours, theirs = both do
      [14, 15].map do |size|
        incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
        incoming << frame(:text, "x" * size)
        [incoming.next&.to_s, incoming.error]
      end
    end
    expect(ours).to eq theirs
    expect(ours).to eq [["x" * 14, nil], [nil, :frame_too_long]]
  ensure
    WebSocket.max_frame_size = limit
  end

  it "does not change the data" do
    data = masked(Random.bytes(100))
    before = data.bytes
    data.getbytes(4, 96)
    expect(data.bytes).to eq before
  end

  it "raises for a key that is too short" do
    ours, theirs = both { masked("abc") }
    expect(ours).to eq theirs
    expect(ours.first).to be WebSocket::Error::Frame::MaskTooShort
  end

  it "reads a server's frames, and writes a client's" do
    texts = ["", "Hello", "grüß" * 1000, "x" * 70_000]
    ours, theirs = both do
      incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
      texts.each { |text| incoming << frame(:text, text) }
      texts.map { incoming.next.then { |frame| [frame.type, frame.to_s, frame.to_s.encoding] } }
    end
    expect(ours).to eq theirs
    expect(ours.map { |_, text| text }).to eq texts.map(&:b)
    both { WebSocket::Frame::Outgoing::Client.new(version: 13, data: "Hello", type: :text).to_s }
      .each { |bytes| expect(WsUnmask::Frame.decode(bytes).payload).to eq "Hello" }
  end

  it "lets a hook on mask see every call" do
    ours, theirs = both do
      seen = []
      hook = Module.new do
        define_method(:mask) { |*arguments| (seen << arguments) && super(*arguments) }
      end
      data = masked("keysHello")
      data.getbytes(4, 5)
      data.extend(hook)
      [data.getbytes(4, 5), seen]
    end
    expect(ours).to eq theirs
    expect(ours.last.size).to eq 1
  end

  # Reads before and after a hook comes to a class that does not define the method itself.
  def payloads_around(hook, target)
    incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
    first, second = Array.new(2) do
      incoming << frame(:text, "Hello")
      incoming.next.to_s.tap { target.prepend(hook) }
    end
    [first, second]
  ensure
    hook.send(:remove_method, :decode_payload)
  end

  it "lets hooks on the later drafts' handlers see what they inherit" do
    handler = WebSocket::Frame::Handler
    [handler::Handler07, handler::Handler05, handler::Handler04].each do |target|
      ours, theirs = both do
        payloads_around(Module.new { def decode_payload(...) = super.upcase }, target)
      end
      expect(ours).to eq theirs
      expect(ours).to eq %w[Hello HELLO]
    end
  end

  it "lets a hook see the calls in the middle of a frame" do
    ours, theirs = both do
      calls = 0
      hook = Module.new { define_method(:decode_frame) { (calls += 1) && super() } }
      incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
      frame(:text, "Hello").each_char.with_index do |byte, i|
        WebSocket::Frame::Handler::Handler07.prepend(hook) if i == 5
        incoming << byte
        incoming.next
      end
      calls
    ensure
      hook.remove_method(:decode_frame)
    end
    expect(ours).to eq theirs
    expect(ours).to be_positive
  end

  it "reads the next frame after it is installed again within a frame" do
    incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
    long = frame(:text, "x" * 200)
    short = frame(:text, "Hello")
    incoming << long.byteslice(0, 5)
    incoming.next
    WsUnmask::WebSocketGem.uninstall
    incoming << long.byteslice(5..)
    expect(incoming.next.to_s.size).to eq 200
    incoming << short.byteslice(0, 9)
    WsUnmask::WebSocketGem.install
    incoming << short.byteslice(9..)
    expect(incoming.next.to_s).to eq "Hello"
  end

  it "reads a frame that replaces an incomplete one" do
    ours, theirs = both do
      incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
      pieces = frame(:text, "x" * 200).byteslice(0, 100).scan(/.{1,5}/mn)
      pieces.each { |piece| (incoming << piece) && incoming.next }
      incoming.data.clear
      pieces = frame(:text, "Hello").scan(/.{1,5}/mn)
      pieces.filter_map { |piece| (incoming << piece) && incoming.next&.to_s }
    end
    expect(ours).to eq theirs
    expect(ours).to eq ["Hello"]
  end
end
