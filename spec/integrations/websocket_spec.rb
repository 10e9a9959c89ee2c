# frozen_string_literal: true

require "ws_unmask/websocket"
require_relative "../support/with_and_without"
require_relative "../support/traffic"

# The websocket gem itself, with the drop-in and without.
RSpec.describe "ws_unmask/websocket" do
  include Traffic

  include_context "with and without", WsUnmask::WebSocketGem

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

  it "changes nothing for random traffic, in any pieces" do
    expect_no_difference { |random| received(cut(random_frames(random).join, random:)) }
  end

  def received(pieces)
    incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
    pieces.flat_map do |piece|
      incoming << piece.dup
      frames = []
      while (frame = incoming.next)
        frames << [frame.type, frame.to_s.hash, frame.to_s.encoding, frame.code]
      end
      frames << incoming.error
    end
  end

  it "leaves the data as they are" do
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
end
