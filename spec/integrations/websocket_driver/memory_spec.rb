# frozen_string_literal: true

require "objspace"
require "ws_unmask/websocket_driver"
require_relative "../../../benches/support/driver"
require_relative "../../support/frames"
require_relative "../../support/with_and_without"

RSpec.describe "ws_unmask/websocket_driver's memory" do
  include Frames

  include_context "with and without", WsUnmask::WebSocketDriver

  # Like a server's read of 64 KiB: a String with capacity for all of it.
  def read(bytes)
    String.new(capacity: 65_536) << bytes
  end

  # Bytes of Strings that each of some connections keeps alive.
  def kept_by_a_connection(&)
    connections = (100 / Integer(ENV.fetch("LESS_TRAFFIC", 1))).clamp(20..)
    drivers = Array.new(connections) { Connection.open_driver }
    before = bytes_of_strings
    drivers.each(&)
    (bytes_of_strings - before) / connections
  ensure
    drivers.clear
  end

  def bytes_of_strings
    GC.start
    ObjectSpace.memsize_of_all(String)
  end

  {
    "a part of a frame" => ->(spec) { [spec.frame(:text, "x" * 2000).byteslice(0, 708)] },
    "a ping after a large message" =>
      ->(spec) { [spec.frame(:text, "x" * 60_000), spec.frame(:ping, "p" * 96)] },
    "many frames and a part of one" =>
      ->(spec) { [(spec.hello * 500) + spec.frame(:text, "x" * 2000).byteslice(0, 708)] },
    "a part of a frame behind a large message" =>
      ->(spec) { ["#{spec.frame(:binary, "x" * 60_000)}#{spec.hello.byteslice(0, 5)}".b] },
    "a frame in parts" => ->(spec) { spec.frame(:text, "x" * 60_000).scan(/.{1,708}/mn) },
    "fragments" => lambda { |spec|
      [spec.frame(:text, "x" * 500, fin: false), spec.frame(:continuation, "x" * 500, fin: false)]
    }
  }.each do |what, pieces|
    it "is the remainder of #{what}" do
      received = pieces.call(self)
      ours, theirs = both do
        kept_by_a_connection do |driver|
          received.each { |piece| driver.parse(read(piece)) }
        end
      end
      expect(ours).to be <= (theirs * 1.2) + 2000
      expect(ours).to be < 5000
    end
  end

  it "is only the rest of a read after a handler has raised" do
    ours, = both do
      kept_by_a_connection do |driver|
        driver.on(:message) { raise "by the handler" }
        driver.parse(read(hello * 100)) rescue nil # rubocop:disable Style/RescueModifier
      end
    end
    expect(ours).to be < 3000
  end
end
