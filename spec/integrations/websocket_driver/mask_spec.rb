# frozen_string_literal: true

require "ws_unmask/websocket_driver"
require_relative "../../support/driver_masks"
require_relative "../../support/with_and_without"

RSpec.describe "ws_unmask/websocket_driver's patch of WebSocket::Mask" do
  let(:key) { "\x37\xfa\x21\x3d".b }

  def mask(...) = WebSocket::Mask.mask(...)

  include_context "with and without", WsUnmask::WebSocketDriver

  DriverMasks::NAMES.each do |name|
    describe ".mask, in the place of the driver's #{name}" do
      include_context "driver mask", name

      it "returns the same, in the same encoding" do
        payloads = [*1..70, 125, 1000].map { |length| Random.bytes(length) }
        payloads += ["grüß".b, "abc".b]
        payloads.each do |payload|
          ours, theirs = both { mask(payload.dup, key).then { |bytes| [bytes, bytes.encoding] } }
          expect(ours).to eq theirs
        end
      end

      it "returns the same without a mask of 4 bytes" do
        [nil, "", "abc", "abcde"].product(["", "Hello"]) do |mask, payload|
          ours, theirs = both { mask(payload.dup, mask) }
          expect(ours).to eq theirs
        end
        payload = "Hello"
        expect(mask(payload, nil)).to be payload
      end
    end
  end

  describe ".mask" do
    it "does not work in place" do
      payload = Random.bytes(1000)
      before = payload.bytes
      mask(payload, key)
      expect(payload.bytes).to eq before
    end

    it "raises for input that crashes the driver's C extension" do
      expect { mask(1, key) }.to raise_error(TypeError)
      expect { mask("Hello", 1) }.to raise_error(TypeError)
    end
  end
end
