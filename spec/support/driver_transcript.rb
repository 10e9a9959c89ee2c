# frozen_string_literal: true

require "base64"
require "digest/sha1"
require "websocket/driver"
require_relative "traffic"

# Records what a driver does: events with the state that a listener sees, and what it writes,
# returns and raises.
class DriverTranscript
  # A connection for the driver. It records what is written, without the random masking keys.
  class Connection
    attr_reader :written
    # The error that the next write raises.
    attr_writer :broken

    def initialize(extensions: nil)
      @written = []
      @extensions = extensions
    end

    def env
      { "REQUEST_METHOD" => "GET", "HTTP_CONNECTION" => "Upgrade",
        "HTTP_UPGRADE" => "websocket", "HTTP_SEC_WEBSOCKET_VERSION" => "13",
        "HTTP_SEC_WEBSOCKET_KEY" => "x" * 24, "HTTP_SEC_WEBSOCKET_EXTENSIONS" => @extensions }
    end

    def url = "ws://localhost/"

    def write(bytes)
      error = @broken
      @broken = nil
      raise error, "by the socket" if error

      @written << [plain(bytes), bytes.encoding]
      bytes.bytesize
    end

    private

    def plain(bytes)
      return bytes unless bytes.getbyte(1) & 0x80 != 0 && !bytes.start_with?("GET")

      size = { 126 => 4, 127 => 10 }.fetch(bytes.getbyte(1) & 0x7f, 2)
      key = bytes.byteslice(size, 4)
      bytes.byteslice(0, size) + Client.mask(bytes.byteslice((size + 4)..), key)
    end
  end

  # permessage-deflate (RFC 7692) without context takeover, as websocket-extensions wants it.
  class Deflate
    include Traffic

    TAIL = "\x00\x00\xff\xff".b

    def name = "permessage-deflate"
    def type = "permessage"
    def rsv1 = true
    def rsv2 = false
    def rsv3 = false
    def create_server_session(_offers) = self
    def create_client_session = self
    def generate_offer = {}
    def generate_response = {}
    def activate(_params) = true
    def close = nil

    def process_incoming_message(message)
      message.data = Zlib::Inflate.new(-15).inflate(message.data + TAIL) if message.rsv1
      message
    end

    def process_outgoing_message(message)
      message.data = deflated(message.data)
      message.rsv1 = true
      message
    end
  end

  # The actions of a listener.
  HABITS = %i[none none echo binary raise close parse parse_nothing parse_and_rescue
              extension_error].freeze
  EVENTS = %i[open message ping pong close error].freeze

  attr_reader :lines, :driver

  # @param role [Symbol] :server or :client
  def initialize(role:, deflate: false, habit: :none, **options)
    @lines = []
    @habit = habit
    @socket = Connection.new(extensions: ("permessage-deflate" if deflate))
    @driver = role == :server ? WebSocket::Driver.rack(@socket, options) : client(options)
    @driver.add_extension(Deflate.new) if deflate
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
    case random.rand(8)
    when 0 then @driver.text("text #{number}")
    when 1 then @driver.text("ümlaut " * random.rand(0..300))
    when 2 then @driver.binary(random.bytes(random.rand(0..300)))
    when 3 then @driver.binary(random.bytes(66_000).bytes)
    when 4 then @driver.ping(+"ping") { @lines << [:ponged] }
    when 5 then @driver.text("utf-16".encode("UTF-16LE"))
    when 6 then send_in_vain(random, number)
    else @driver.close(+"bye", 1001) if random.rand(4).zero?
    end
  end

  def send_in_vain(random, number)
    @socket.broken = [WebSocket::Extensions::ExtensionError, IOError].sample(random:)
    @driver.text("text #{number}")
  ensure
    @socket.broken = nil
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
    when :echo then @driver.text(+"echo")
    when :binary then @driver.binary("\x00\xff".b)
    when :raise then raise "by the listener"
    when :close then @driver.close
    when :parse then @driver.parse(["818537fa213d7f9f4d5158"].pack("H*"))
    when :parse_nothing then [nil, "", "\x81".b].each { |chunk| @driver.parse(chunk) }
    when :parse_and_rescue then parse_and_rescue
    when :extension_error then raise WebSocket::Extensions::ExtensionError, "by the listener"
    end
  end

  # The next message's listener raises, within this parse.
  def parse_and_rescue
    @habit = :raise
    @driver.parse(["818537fa213d7f9f4d5158"].pack("H*"))
  rescue StandardError => e
    @lines << [:rescued, e.message]
  end

  def note(what)
    result = yield
    @lines << [what, result.is_a?(Array) ? result.size : result, state]
  rescue StandardError => e
    @lines << [what, e.class, e.message, state]
  end

  def state
    stage, ready_state, frame, message =
      %i[@stage @ready_state @frame @message].map { |name| @driver.instance_variable_get(name) }
    [stage, ready_state, frame && [frame.opcode, frame.final, frame.length, frame.masked],
     message && [message.opcode, short(message.data), message.data.encoding, message.rsv1]]
  end

  # A readable form, for comparing.
  def short(value)
    value.is_a?(Integer) || value.size < 80 ? value : [value.size, value.hash]
  end
end
