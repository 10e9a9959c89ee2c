# frozen_string_literal: true

require "base64"
require "digest/sha1"
require_relative "driver_traffic"

# A driver's life, written down: events with the state that a listener sees, what is written,
# returned and raised.
class DriverTranscript
  HABITS = %i[none none echo binary raise close parse extension_error].freeze
  EVENTS = %i[open message ping pong close error].freeze

  attr_reader :lines

  # @param role [Symbol] :server or :client
  def initialize(role:, deflate: false, habit: :none, **options)
    @lines = []
    @habit = habit
    @socket = DriverTraffic::Connection.new(extensions: ("permessage-deflate" if deflate))
    @driver = role == :server ? WebSocket::Driver.rack(@socket, options) : client(options)
    @driver.add_extension(DriverTraffic::Deflate.new) if deflate
    EVENTS.each { |event| @driver.on(event) { |object| happened(event, object) } }
    @driver.start
    @driver.parse(response(deflate)) if role == :client
  end

  # Parses the pieces, and sends something between them.
  def run(pieces, random:)
    pieces.each_with_index do |piece, i|
      note(:parse) { @driver.parse(piece.dup) }
      note(:send) { send_something(random, i) } if random.rand(3).zero?
    end
    @socket.written.each { |bytes, encoding| @lines << [:written, short(bytes), encoding] }
  end

  private

  def client(options)
    WebSocket::Driver.client(@socket, options)
  end

  def response(deflate)
    key = @socket.written.first.first[/Sec-WebSocket-Key: (\S+)/, 1]
    accept = Base64.strict_encode64(Digest::SHA1.digest(key + WebSocket::Driver::Hybi::GUID))
    @socket.written.clear
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
      "Sec-WebSocket-Accept: #{accept}\r\n" \
      "#{"Sec-WebSocket-Extensions: permessage-deflate\r\n" if deflate}\r\n"
  end

  def send_something(random, number)
    case random.rand(7)
    when 0 then @driver.text("text #{number}")
    when 1 then @driver.text("ümlaut " * random.rand(0..300))
    when 2 then @driver.binary(random.bytes(random.rand(0..300)))
    when 3 then @driver.binary(random.bytes(66_000).bytes)
    when 4 then @driver.ping("ping") { @lines << [:ponged] }
    when 5 then @driver.text("utf-16".encode("UTF-16LE"))
    else @driver.close("bye", 1001) if random.rand(4).zero?
    end
  end

  def happened(event, object)
    values = object.is_a?(Exception) ? [object.message] : object.to_a
    values.map! { |value| [short(value), (value.encoding if value.is_a?(String))] }
    @lines << [event, object.class, values, state]
    act if event == :message
  end

  def act
    habit = @habit
    return if habit == :none

    @habit = :none unless %i[echo binary].include?(habit)
    case habit
    when :echo then @driver.text("echo")
    when :binary then @driver.binary("\x00\xff".b)
    when :raise then raise "by the listener"
    when :close then @driver.close
    when :parse then @driver.parse(["818537fa213d7f9f4d5158"].pack("H*"))
    when :extension_error then raise WebSocket::Extensions::ExtensionError, "by the listener"
    end
  end

  def note(what)
    @lines << [what, yield, state]
  rescue StandardError => e
    @lines << [what, e.class, e.message, state]
  end

  def state
    stage, ready_state, frame, message =
      %i[@stage @ready_state @frame @message].map { |name| @driver.instance_variable_get(name) }
    [stage, ready_state, frame && [frame.opcode, frame.final, frame.length, frame.masked],
     message && [message.opcode, short(message.data), message.data.encoding, message.rsv1]]
  end

  # Something that one can read if it is not the same.
  def short(value)
    value.is_a?(Integer) || value.size < 80 ? value : [value.size, value.hash]
  end
end
