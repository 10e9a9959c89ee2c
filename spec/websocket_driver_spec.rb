# frozen_string_literal: true

require "ws_unmask/websocket_driver"

RSpec.describe "ws_unmask/websocket_driver" do
  let(:ours) { WebSocket::Mask.method(:mask) }
  let(:theirs) { ours.super_method }
  let(:key) { "\x37\xfa\x21\x3d".b }

  it "takes the place of the driver's mask" do
    expect(ours.owner).to be WsUnmask::WebSocketDriver::Mask
    expect(theirs).not_to be_nil
  end

  it "returns what the driver's C extension returns, in the same encoding" do
    payloads = [*0..70, 125, 1000].map { |length| Random.bytes(length) }
    payloads += ["grüß", "grüß".encode("UTF-16LE"), "abc"]
    payloads.each do |payload|
      results = [ours, theirs].map { |mask| mask.call(payload, key) }
      expect(results[0]).to eq results[1]
      expect(results[0].encoding).to be results[1].encoding
    end
  end

  it "returns the payload itself without a mask of 4 bytes, as the C extension does" do
    payload = "Hello"
    [nil, "", "abc", "abcde"].each do |mask|
      expect(theirs.call(payload, mask)).to be payload
      expect(ours.call(payload, mask)).to be payload
    end
  end

  it "does not work in place" do
    payload = Random.bytes(1000)
    before = payload.bytes
    ours.call(payload, key)
    expect(payload.bytes).to eq before
  end

  it "raises for what crashes the C extension" do
    expect { ours.call(1, key) }.to raise_error(TypeError)
    expect { ours.call("Hello", 1) }.to raise_error(TypeError)
  end
end
