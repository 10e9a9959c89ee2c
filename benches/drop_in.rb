# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require "ws_unmask"
require_relative "../examples/client"
require_relative "../spec/support/real_midori"
require_relative "../spec/support/scripted_server"
require_relative "support/rounds"

# The libraries that have an integration: the same calls without ws_unmask and with it. Each way has
# processes of its own, in turn: where methods are replaced and put back, a JIT compiles again and
# again.
class Integrations
  WAYS = %w[without with].freeze
  ROUNDS = 3
  SIZES = [5, 61, 125, 1000, 16 << 10, 1 << 20].freeze
  READ = 4096
  # For libraries that read byte by byte: the largest size would take minutes.
  LARGE = 16 << 10
  # The sizes that Midori can decode without ws_unmask.
  MIDORI = 125

  def initialize
    RealMidori.activate
    %w[event_emitter websocket-client-simple].each { |name| ExtraGems.activate(name) }
  end

  def run
    puts RUBY_DESCRIPTION, "medians, ns a call", "",
         format("%-48s %9s %14s %12s %8s", "", "bytes", "without", "with", "ratio")
    WsUnmask::Integration::ALL.each do |integration|
      compare(integration) if integration.version && respond_to?(integration.name, true)
    end
  end

  # Runs in a separate process: prints the nanoseconds per call, as JSON.
  def measure(name, way)
    integration = WsUnmask::Integration.find(name.to_sym)
    integration.features.each { |feature| require feature }
    integration.load if way == "with"
    calls = SIZES.flat_map do |size|
      send(name, size).map { |title, call| [title, size, Rounds.medians(call:)[:call]] }
    end
    puts calls.to_json
  end

  private

  def compare(integration)
    rounds = Array.new(ROUNDS) { WAYS.map { |way| in_a_process(integration.name, way) } }
    rounds.first.first.each_with_index do |(title, size), i|
      without, with = WAYS.each_index.map do |way|
        rounds.map { |round| round[way][i].last }.sort[ROUNDS / 2]
      end
      puts format("%-48s %9d %14.0f %12.0f %7.1fx", title, size, without, with, without / with)
    end
    puts
  end

  def in_a_process(name, way)
    output, status = Open3.capture2(RbConfig.ruby, "-I#{__dir__}/../lib", __FILE__, name.to_s, way)
    raise "#{name}, #{way}: failed" unless status.success?

    JSON.parse(output)
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
      **around([driver, "x" * size], "driver.text" => "object[0].text(object[1])"),
      **(size == SIZES.last ? client_of_large_messages(size) : {}) }
  end

  # As a browser's screenshots come.
  def client_of_large_messages(size)
    frame = WsUnmask::Frame.encode(:text, "x" * size)
    reads = (0...frame.bytesize).step(512).map { |at| frame.byteslice(at, 512) }
    around([Connection.open_client, reads], "driver.parse of a client, by reads of 512 B" =>
      "object[1].each { |read| object[0].parse(read) }")
  end

  def protocol_websocket(size)
    frame = Protocol::WebSocket::TextFrame.new(true, Random.bytes(size), mask: Random.bytes(4))
    around(frame, "protocol-websocket frame.unpack" => "object.unpack")
      .merge(protocol_websocket_connections(Client.frame(:text, "x" * size)))
  end

  def protocol_websocket_connections(frame)
    require_relative "support/endless_stream"
    several = frame * [16_384 / frame.bytesize, 1].max
    { **around(EndlessStream.connection(frame), "protocol-websocket connection.read" =>
        "object.read"),
      **around(EndlessStream.connection(several), "connection.read, 16 KiB or more a read" =>
        "object.read") }
  rescue LoadError
    {}
  end

  def websocket(size)
    frame = Client.frame(:text, "x" * size)
    data = WebSocket::Frame::Data.new(frame).tap(&:set_mask)
    incoming = WebSocket::Frame::Incoming::Server.new(version: 13)
    calls = { **around(data, "websocket data.getbytes" => "object.getbytes(4, #{size})"),
              **around([incoming, frame],
                       "websocket incoming.next" => "object[0] << object[1]; object[0].next") }
    return calls unless size == LARGE

    calls.merge(around([incoming, frame.each_char.to_a],
                       "websocket incoming.next, a byte at a time" =>
                         "object[1].each { |byte| object[0] << byte; object[0].next }"))
  end

  # An answer from a server in another process: many messages if they are short, since it also takes
  # a question. 700 KB take the library more than a second.
  def websocket_client_simple(size)
    size = 700_000 if size == SIZES.max
    count = size < LARGE ? 100 : 1
    title = "websocket-client-simple, an answer of #{"#{count} * " if count > 1}#{size} B"
    around(client_of(WsUnmask::Frame.encode(:text, "x" * size) * count, count),
           title => 'object[0].send("?"); object[1].pop')
  end

  # @return [Array] the client, and a queue with something for each answer that it has received
  def client_of(answer, count)
    reader, writer = IO.pipe
    server = fork { serve(answer, writer) }
    at_exit { Process.kill(:KILL, server) }
    opened, answers = Array.new(2) { Queue.new }
    received = 0
    client = WebSocket::Client::Simple.connect(reader.gets.chomp) do |connecting|
      connecting.on(:open) { opened << true }
      connecting.on(:message) { answers << true if ((received += 1) % count).zero? }
    end
    opened.pop
    [client, answers]
  end

  def serve(answer, writer)
    server = ScriptedServer.new do |socket, response|
      socket.write(response)
      loop { socket.readpartial(READ) && socket.write(answer) }
    end
    writer.puts server.url
    sleep
  end

  def midori(size)
    return {} if size > MIDORI

    data = StringIO.new(Client.frame(:text, "x" * size))
    around([Midori::WebSocket.new(nil), data],
           "Midori socket.decode" => "object[1].rewind; object[0].decode(object[1])")
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

ARGV.empty? ? Integrations.new.run : Integrations.new.measure(*ARGV)
