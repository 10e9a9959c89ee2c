# frozen_string_literal: true

require "ws_unmask/em_websocket"
require_relative "../support/traffic"
require_relative "../support/with_and_without"

# em-websocket's own String, with ws_unmask and without.
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

  it "changes nothing for random traffic in chunks of any size" do
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

  it "refuses versions whose getbytes returns other bytes" do
    masked_string = EventMachine::WebSocket::MaskedString
    [
      # Before 0.3.7: UTF-8, so a byte of 0x80 or more becomes a character.
      ->(string, start, count) { count.times.map { |i| string.getbyte(start + i) }.pack("U*") },
      # Older still: the bytes are counted from behind the key.
      lambda { |string, start, count|
        count.times.map { |i| string.getbyte(start + i + 4).to_i }.pack("C*")
      }
    ].each do |old|
      WsUnmask::EmWebSocket.uninstall
      original = masked_string.instance_method(:getbytes)
      masked_string.define_method(:getbytes) { |start, count| old.call(self, start, count) }
      expect { expect(WsUnmask::EmWebSocket.install).to be false }.to output(//).to_stderr
      expect(WsUnmask::EmWebSocket::PATCHES.problem).to match(/getbytes does not return what/)
    ensure
      masked_string.define_method(:getbytes, original)
      expect(WsUnmask::EmWebSocket.install).to be true
    end
  end

  it "lets a hook on getbyte see every byte" do
    ours, theirs = both do
      seen = []
      hook = Module.new { define_method(:getbyte) { |index| (seen << index) && super(index) } }
      string = masked(Random.bytes(20))
      string.getbytes(4, 5)
      string.extend(hook)
      string.getbytes(4, 5)
      seen
    end
    expect(ours).to eq theirs
    expect(ours).to eq [4, 5, 6, 7, 8]
  end

  it "returns the same for a count that is negative" do
    ours, theirs = both { masked("abcdefgh".b).getbytes(5, -1) }
    expect(ours).to eq theirs
  end
end
