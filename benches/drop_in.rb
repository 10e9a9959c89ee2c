# frozen_string_literal: true

require "ws_unmask"
require_relative "../examples/client"
require_relative "support/rounds"

# The libraries that have an integration: the same calls without ws_unmask and with it, in turn.
class Integrations
  SIZES = [5, 61, 125, 1000, 16 << 10, 1 << 20].freeze
  READ = 4096

  def run
    puts "Ruby #{RUBY_VERSION}; medians, ns a call", "",
         format("%-48s %9s %14s %12s %8s", "", "bytes", "without", "with", "ratio")
    WsUnmask::Integration::ALL.each { |integration| compare(integration) }
  end

  private

  def compare(integration)
    return unless integration.version && respond_to?(integration.name, true)

    patches = integration.load
    return unless patches.install

    SIZES.each do |size|
      send(integration.name, size).each do |title, way|
        ns = Rounds.medians(
          without: ->(calls) { patches.uninstall.then { way.call(calls) } },
          with: ->(calls) { patches.install.then { way.call(calls) } }
        )
        puts format("%-48s %9d %14.0f %12.0f %7.1fx", title, size, ns[:without], ns[:with],
                    ns[:without] / ns[:with])
      end
    end
    puts
  end

  def websocket_driver(size)
    require_relative "support/driver"
    driver = Connection.open_driver
    frame = Client.frame(:text, "x" * size)
    chunk = size < READ ? frame * (READ / frame.bytesize) : frame
    reads = (0...chunk.bytesize).step(READ).map { |at| chunk.byteslice(at, READ) }
    { **around([driver, frame], "driver.parse, a frame" => "object[0].parse(object[1])"),
      **around([driver, reads], "driver.parse, 4 KiB or more, by reads of 4 KiB" =>
        "object[1].each { |read| object[0].parse(read) }"),
      **around([driver, "x" * size], "driver.text" => "object[0].text(object[1])") }
  end

  def protocol_websocket(size)
    frame = Protocol::WebSocket::TextFrame.new(true, Random.bytes(size), mask: Random.bytes(4))
    around(frame, "protocol-websocket frame.unpack" => "object.unpack")
  end

  def websocket(size)
    frame = Client.frame(:text, "x" * size)
    data = WebSocket::Frame::Data.new(frame).tap(&:set_mask)
    incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
    { **around(data, "websocket data.getbytes" => "object.getbytes(4, #{size})"),
      **around([incoming, frame],
               "websocket incoming.next" => "object[0] << object[1]; object[0].next") }
  end

  def em_websocket(size)
    masked = EventMachine::WebSocket::MaskedString.new(Client.frame(:text, "x" * size))
    masked.read_mask
    around(masked, "em-websocket getbytes" => "object.getbytes(4, #{size})")
  end

  # `calls` see the object as `object`.
  def around(object, calls)
    calls.transform_values { |call| Rounds.loop_around(call, binding) }
  end
end

Integrations.new.run
