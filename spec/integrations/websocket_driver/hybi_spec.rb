# frozen_string_literal: true

require "ws_unmask/websocket_driver"
require_relative "../../../benches/support/driver"
require_relative "../../support/frames"
require_relative "../../support/with_and_without"

RSpec.describe "ws_unmask/websocket_driver's patch of WebSocket::Driver::Hybi" do
  include Frames

  include_context "with and without", WsUnmask::WebSocketDriver

  let(:native) { WsUnmask.const_get(:Native) }
  let(:extension_error) { WebSocket::Extensions::ExtensionError }

  # A driver that is open, and the data of its messages.
  def open_driver(socket = Connection.new, **options)
    driver = WebSocket::Driver.rack(socket, options)
    driver.start
    messages = []
    driver.on(:message) { |event| messages << event.data }
    [driver, messages]
  end

  describe "#parse" do
    it "makes one native call for all frames of a read, and does not use the driver's parser" do
      expect(native).to receive(:whole_frames).twice.and_call_original
      driver, messages = open_driver
      expect(driver).not_to receive(:parse_without_ws_unmask)
      driver.parse((hello * 100) + frame(:ping) + frame(:text, "a", fin: false) +
                   frame(:continuation, "b"))
      expect(messages).to eq((["Hello"] * 100) + ["ab"])
    end

    it "takes the fast path for a frame that arrives in parts" do
      text = "grüß " * 1000
      bytes = frame(:text, text)
      [1, 2, 3, 5, 8, 9, 100].each do |at|
        driver, messages = open_driver
        driver.parse(bytes.byteslice(0, at))
        expect(WsUnmask).not_to receive(:unmask) # as the driver's own method would
        driver.parse(bytes.byteslice(at..) + hello)
        expect(messages).to eq [text, "Hello"]
      end
    end

    # The first message's listener parses, the second's raises within that.
    def messages_with_nested_parse(outer, inner)
      driver, messages = open_driver
      driver.on(:message) do
        raise "by the handler" if messages.size == 2

        parse_and_rescue(driver, inner, messages) if messages.size == 1
      end
      driver.parse(outer)
      messages
    end

    def parse_and_rescue(driver, bytes, messages)
      driver.parse(bytes)
    rescue RuntimeError
      messages << "rescued"
    end

    it "continues with the next frames if a nested parse raises and is rescued" do
      [[hello * 3, hello], [hello, hello * 3]].each do |outer, inner|
        delivered = both { messages_with_nested_parse(outer.dup, inner.dup) }
        expect(delivered).to eq [%w[Hello Hello rescued Hello Hello]] * 2
      end
    end

    it "delivers the remaining messages at the next parse after a handler has raised" do
      delivered = both do
        driver, messages = open_driver
        driver.on(:message) { raise "by the handler" if messages.size == 2 }
        expect { driver.parse(hello * 4) }.to raise_error("by the handler")
        [messages.size, driver.parse("".b), messages.size]
      end
      expect(delivered).to eq [[2, nil, 4]] * 2
    end

    it "leaves limits that are negative, huge or not an Integer to the driver" do
      [1.5, 3e9, -1, Rational(9, 2), 2**64, 2**70, Float::INFINITY].each do |max_length|
        ours, theirs = both do
          driver, messages = open_driver(max_length:)
          driver.parse(hello)
          [messages, driver.state]
        end
        expect(ours).to eq theirs
      end
    end

    it "changes only the encoding of the bytes read" do
      chunk = (hello * 2) + hello.byteslice(0, 5)
      before = chunk.dup
      driver, messages = open_driver
      driver.parse(chunk)
      driver.parse(hello.byteslice(5..))
      expect(chunk).to eq before
      messages.each(&:upcase!)
      expect(chunk).to eq before
    end
  end

  describe "#parse of a message over max_length" do
    before { WsUnmask::WebSocketDriver.raise_message_too_big = true }
    after { WsUnmask::WebSocketDriver.raise_message_too_big = false }

    let(:too_big) { [frame(:text, "x" * 400, fin: false), frame(:continuation, "x" * 101)] }

    def closed_by(driver)
      codes = []
      driver.on(:close) { |event| codes << event.code }
      codes
    end

    it "raises after it has closed the connection, if the app wants that" do
      binary = frame(:binary, "x" * 501)
      [[binary], too_big, [too_big.join], [hello + binary], binary.chars].each do |pieces|
        driver, = open_driver(max_length: 500)
        codes = closed_by(driver)
        expect { pieces.each { |piece| driver.parse(piece) } }
          .to raise_error(WsUnmask::MessageTooBigError, /over max_length \(500 bytes\)/)
        expect(codes).to eq [1009]
        expect { driver.parse(hello) }.not_to raise_error
      end
    end

    it "raises nothing up to the limit" do
      driver, messages = open_driver(max_length: 500)
      driver.parse(frame(:text, "x" * 500))
      expect(messages).to eq ["x" * 500]
    end

    it "raises nothing by default" do
      WsUnmask::WebSocketDriver.raise_message_too_big = false
      driver, = open_driver(max_length: 500)
      codes = closed_by(driver)
      driver.parse(frame(:text, "x" * 501))
      expect(codes).to eq [1009]
    end
  end

  describe "#frame" do
    it "closes with code 1010 if the socket raises an extension's error" do
      closed = both do
        socket = Connection.new
        driver, = open_driver(socket)
        events = []
        driver.on(:close) { |event| events << event.to_a }
        error = extension_error.new("by the socket")
        socket.define_singleton_method(:write) do |bytes|
          raise error if bytes.include?("Hello")

          bytes.bytesize
        end
        driver.text("Hello")
        [events, driver.state]
      end
      expect(closed).to eq [[[[1010, "by the socket"]], :closed]] * 2
    end

    it "raises what the driver raises for an unknown type" do
      ours, theirs = both { open_driver.first.frame("Hello", :bogus) }
      expect(ours).to eq theirs
      expect(ours.first).to be < StandardError
    end

    it "leaves a String that it sends as it is" do
      binary = "\xff".b
      driver, = open_driver
      expect(driver.frame(binary, :text)).to be true
      expect(binary.encoding).to be Encoding::BINARY
    end

    it "is one call of the extension for a text" do
      expect(native).to receive(:frame).once.and_call_original
      expect(open_driver.first.text("Hello")).to be true
    end
  end
end
