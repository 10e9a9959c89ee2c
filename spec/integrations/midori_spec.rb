# frozen_string_literal: true

require "stringio"
$LOAD_PATH.unshift(File.join(__dir__, "../doubles"))
require "ws_unmask/midori"
require_relative "../support/with_and_without"
require_relative "../support/frames"

# Against a double: the midori gem itself cannot be installed here.
RSpec.describe "ws_unmask/midori" do
  include Frames

  include_context "with and without", WsUnmask::Midori

  def decoded(bytes)
    socket = Midori::WebSocket.new
    returned = socket.decode(StringIO.new(bytes))
    [returned, socket.opcode, socket.msg, (socket.msg.encoding if socket.msg.is_a?(String))]
  end

  it "sets opcode and msg as before, and returns nil" do
    frames = %i[text binary ping pong].product(["", "Hello", "grüß", "\xff\x00", "x" * 125])
    frames.each do |type, payload|
      ours, theirs = both { decoded(frame(type, payload)) }
      expect(ours).to eq theirs
      expect(ours.first).to be_nil
    end
  end

  it "raises what was raised before, with the opcode set" do
    ["\x01\x80\0\0\0\0", "\x83\x80\0\0\0\0", "\x80\x80\0\0\0\0", "\x81\x05Hello",
     "\x88\x80\0\0\0\0"].each do |bytes|
      ours, theirs = both do
        socket = Midori::WebSocket.new
        error = begin
          socket.decode(StringIO.new(bytes.b))
        rescue StandardError => e
          e.class
        end
        [error, socket.opcode]
      end
      expect(ours).to eq theirs
      expect(ours.first).to be < StandardError
    end
  end

  it "reads payloads of any length" do
    [126, 65_535, 65_536].each do |length|
      expect(decoded(frame(:text, "x" * length))[2]).to eq "x" * length
    end
  end

  it "raises EOFError for a frame that is cut, and refuses one of 2**62 bytes" do
    [hello.byteslice(0, 9), hello.byteslice(0, 1), ""].each do |bytes|
      expect { decoded(bytes) }.to raise_error(EOFError)
    end
    huge = [0x82, 0xff, 1 << 62, "key!"].pack("CCQ>a4")
    expect { decoded(huge) }.to raise_error(WsUnmask::MessageTooBigError)
  end

  it "masks as the protected methods did, which stay protected" do
    payload = Random.bytes(100).bytes
    %i[mask mask_str].each do |name|
      ours, theirs = both { Midori::WebSocket.new.send(name, payload, [1, 2, 3, 255]) }
      expect(ours).to eq theirs
      expect(ours).to be_a(name == :mask ? Array : String)
      expect(Midori::WebSocket).to be_protected_method_defined(name)
    end
  end
end
