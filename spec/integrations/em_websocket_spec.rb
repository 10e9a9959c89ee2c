# frozen_string_literal: true

require "ws_unmask/em_websocket"
require_relative "../support/traffic"
require_relative "../support/with_and_without"

# em-websocket's own String, with the drop-in and without.
RSpec.describe "ws_unmask/em_websocket" do
  include Traffic

  include_context "with and without", WsUnmask::EmWebSocket

  def masked(bytes)
    EventMachine::WebSocket::MaskedString.new(bytes).tap(&:read_mask)
  end

  it "is active" do
    expect(WsUnmask.installed).to include :em_websocket
  end

  it "returns the same bytes, or raises the same, for any place and length" do
    bytes = Random.bytes(300)
    places = [[0, 0], [0, 300], [4, 296], [5, 17], [6, 3], [299, 1], [4, 297], [300, 1], [-3, 2]]
    places.each do |place|
      ours, theirs = both { masked(bytes).getbytes(*place).then { |got| [got, got.encoding] } }
      expect(ours).to eq(theirs), "#{place}: #{ours}, #{theirs}"
    end
  end

  # em-websocket's own framing, without a connection around it.
  let(:framing) do
    Class.new do
      include EventMachine::WebSocket::Framing07

      attr_reader :messages

      def initialize
        @connection = Struct.new(:max_frame_size).new(10_000_000)
        @messages = []
        initialize_framing
      end

      def parse(bytes)
        @data << bytes
        process_data
      end

      def message(type, _, data) = @messages << [type, data.hash, data.encoding]
      def debug(*) = nil
    end
  end

  it "changes nothing for random traffic, in any pieces" do
    expect_no_difference do |random|
      connection = framing.new
      begin
        cut(random_frames(random).join, random:).each { |piece| connection.parse(piece.dup) }
      rescue StandardError => e
        connection.messages << [e.class, e.message]
      end
      connection.messages
    end
  end

  it "returns the same without a key, and once the key is gone" do
    bytes = Random.bytes(100)
    ours, theirs = both do
      [EventMachine::WebSocket::MaskedString.new(bytes), masked(bytes).tap(&:unset_mask)]
        .map { |string| string.getbytes(10, 50) }
    end
    expect(ours).to eq theirs
  end

  it "raises for a key that is too short" do
    ours, theirs = both { masked("abc".b) }
    expect(ours).to eq theirs
  end
end
