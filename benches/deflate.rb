# frozen_string_literal: true

require "ws_unmask"
require "zlib"
require_relative "../examples/client"
require_relative "../spec/support/extra_gems"
require_relative "support/json_messages"
require_relative "support/rounds"

# Compressed messages: ws_unmask, the sessions of the gem permessage_deflate without ws_unmask and
# with it, protocol-websocket, and Ruby's Zlib alone.
#
# ws_unmask does what the others do not: it unmasks payloads for the sessions, and frames their
# output. Zlib alone does neither.
class DeflateBench
  SIZES = [125, 1 << 10, 16 << 10, 1 << 20].freeze
  TAIL = "\x00\x00\xff\xff".b.freeze
  CONNECTIONS = 400
  MESSAGES = 50 # that each connection receives, and sends

  # What the gem's sessions read and write.
  Message = Struct.new(:rsv1, :data)

  TITLES = { ours: "ws_unmask", session: "the gem", drop_in: "the gem, with",
             protocol: "protocol-ws", zlib: "Zlib alone" }.freeze

  def initialize
    ExtraGems.activate("permessage_deflate")
    @session = there?("permessage_deflate")
    require "ws_unmask/permessage_deflate" if @session
    @protocol = there?("protocol/websocket/extensions")
  end

  def there?(library)
    require library
    true
  rescue LoadError
    puts "skipped: #{library} (not installed)"
    false
  end

  def run
    puts "Ruby #{RUBY_VERSION}, zlib #{Zlib.zlib_version}, " \
         "permessage_deflate #{Gem.loaded_specs["permessage_deflate"]&.version || "0.1.x"}; medians"
    compare("inflate, unmask and check UTF-8") { |size| inflating(size) }
    compare("deflate and frame") { |size| deflating(size) }
    chat
  end

  private

  def compare(title)
    puts "", "#{title}: JSON messages that differ, ns each, and how many times ours",
         format("%10s", "bytes") + TITLES.values.map { |it| format("%20s", it) }.join
    SIZES.each do |size|
      ns = Rounds.medians(yield(size))
      cells = TITLES.keys.map do |key|
        ns[key] ? format("%12.0f %6.2fx", ns[key], ns[key] / ns[:ours]) : format("%20s", "-")
      end
      puts format("%10d", size) + cells.join
    end
  end

  # -- the loops see the locals
  def inflating(size)
    messages = JsonMessages.of(size)
    deflate = Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -15)
    payloads = messages.map { |it| deflate.deflate(it, Zlib::SYNC_FLUSH).delete_suffix(TAIL) }
    key = "k3y!".b
    frames = payloads.map { |payload| Client.frame(:text, payload, rsv1: true, key:) }
    masked = payloads.map { |payload| WsUnmask.mask(payload, key) }
    count = messages.size
    decoder = WsUnmask::Decoder.new(deflate: WsUnmask::Deflate.new.accept("permessage-deflate"))
    session, drop_in = sessions
    protocol = Protocol::WebSocket::Extension::Compression::Inflate.new(nil) if @protocol
    zlib = Zlib::Inflate.new(-15)
    check(messages, frames.flat_map { |frame| decoder.feed(frame) }.map(&:last))
    [session, drop_in].compact.each do |it|
      check(messages, masked.map { |payload| inflated(it, payload, key) })
    end
    check(messages, masked.map { |payload| inflated_by(protocol, payload, key) }) if protocol
    check(messages, payloads.map { |payload| zlib.inflate(payload) + zlib.inflate(TAIL) })
    loops({ ours: "decoder.feed(frames[i % count]) { |type, text| text }",
            session: "inflated(session, masked[i % count], key)",
            drop_in: "inflated(drop_in, masked[i % count], key)",
            protocol: "inflated_by(protocol, masked[i % count], key)",
            zlib: "zlib.inflate(payloads[i % count]); zlib.inflate(TAIL)" }, binding)
  end

  def deflating(size)
    messages = JsonMessages.of(size)
    count = messages.size
    agreement = WsUnmask::Deflate.new.accept("permessage-deflate")
    encoder = WsUnmask::Encoder.new(deflate: agreement, threshold: 0)
    session, drop_in = sessions
    protocol = Protocol::WebSocket::Extension::Compression::Deflate.new(nil) if @protocol
    zlib = Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -15)
    ours = messages.map { |message| encoder.encode(:text, message) }
    theirs, by_drop_in = [session, drop_in].compact.map do |it|
      messages.map { |message| deflated(it, message) }
    end
    [ours, theirs, by_drop_in].compact.each { |frames| check(messages, received(frames)) }
    raw = messages.map { |message| zlib.deflate(message, Zlib::SYNC_FLUSH) }
    puts format("%10s %12d %12d %12d   of %d bytes", "sent:", ours.sum(&:bytesize),
                theirs.to_a.sum(&:bytesize), raw.sum(&:bytesize), size * count)
    loops({ ours: "encoder.encode(:text, messages[i % count])",
            session: "deflated(session, messages[i % count])",
            drop_in: "deflated(drop_in, messages[i % count])",
            protocol: "deflated_by(protocol, messages[i % count])",
            zlib: "zlib.deflate(messages[i % count], Zlib::SYNC_FLUSH)" }, binding)
  end
  # --

  def loops(calls, scope)
    calls = calls.except(:session, :drop_in) unless @session
    calls = calls.except(:protocol) unless @protocol
    calls.transform_values { |call| Rounds.loop_around(call, scope) }
  end

  # The gem's sessions, without ws_unmask and with it.
  def sessions
    return unless @session

    %i[uninstall install].map do |state|
      WsUnmask::PermessageDeflate.public_send(state)
      server_session({})
    end
  end

  def server_session(offer)
    ::PermessageDeflate.create_server_session([offer]).tap(&:generate_response)
  end

  def inflated_by(protocol, masked, key)
    text = protocol.__send__(:inflate, WsUnmask.unmask(masked, key)).force_encoding(Encoding::UTF_8)
    text.valid_encoding? ? text : raise("invalid UTF-8")
  end

  def deflated_by(protocol, text)
    WsUnmask::Frame.encode(:text, protocol.__send__(:deflate, text), reserved: [1])
  end

  def inflated(session, masked, key)
    message = Message.new(true, WsUnmask.unmask(masked, key))
    text = session.process_incoming_message(message).data.force_encoding(Encoding::UTF_8)
    text.valid_encoding? ? text : raise("invalid UTF-8")
  end

  def deflated(session, text)
    message = session.process_outgoing_message(Message.new(false, text))
    WsUnmask::Frame.encode(:text, message.data, reserved: [1])
  end

  def received(frames)
    agreement = WsUnmask::Deflate.new.confirm("permessage-deflate")
    decoder = WsUnmask::Decoder.new(forbid_mask: true, deflate: agreement)
    frames.flat_map { |frame| decoder.feed(frame) }.map(&:last)
  end

  def check(messages, got)
    raise "the messages are not the same" unless got == messages
  end

  # The cost of a connection that repeatedly receives and sends a message of 125 bytes.
  def chat
    puts "", "#{CONNECTIONS} connections, each receives and sends #{MESSAGES} JSON messages of " \
             "125 bytes",
         format("%-46s %12s %14s %12s", "", "CPU, us each", "KiB/connection", "bytes sent")
    endpoints.each do |title, endpoint|
      next if title.start_with?("the gem") && !@session

      us, kib, bytes = chatting(endpoint, compressed: title != "without compression",
                                          takeover: !title.include?("no context"))
      puts format("%-46s %12.2f %14.1f %12.0f", title, us, kib, bytes)
    end
  end

  def endpoints
    no_takeover = { server_no_context_takeover: true, client_no_context_takeover: true }
    { "without compression" => -> { endpoint(nil) },
      "ws_unmask, context takeover, 15 bits" => -> { endpoint({}) },
      "ws_unmask, context takeover, 12 bits" => -> { endpoint({ server_max_window_bits: 12 }) },
      "ws_unmask, no context takeover" => -> { endpoint(no_takeover) },
      "the gem, context takeover" => -> { session_endpoint({}, :uninstall) },
      "the gem, no context takeover" =>
        -> { session_endpoint(no_takeover.transform_keys(&:to_s), :uninstall) },
      "the gem with ws_unmask, context takeover" => -> { session_endpoint({}, :install) } }
  end

  # What receives a frame and then sends a message.
  def endpoint(wanted)
    agreement = WsUnmask::Deflate.new(**wanted).accept("permessage-deflate") if wanted
    decoder = WsUnmask::Decoder.new(deflate: agreement)
    encoder = WsUnmask::Encoder.new(deflate: agreement, threshold: 0)
    lambda do |frame, message|
      decoder.feed(frame) { |_, text| text }
      encoder.encode(:text, message)
    end
  end

  # The Decoder removes the header, as a driver would.
  def session_endpoint(offer, state)
    WsUnmask::PermessageDeflate.public_send(state)
    decoder = WsUnmask::Decoder.new(allow_reserved: [1])
    session = server_session(offer)
    lambda do |frame, message|
      decoder.feed(frame) do |_, payload|
        text = session.process_incoming_message(Message.new(true, payload)).data
        text.force_encoding(Encoding::UTF_8).valid_encoding? or raise "invalid UTF-8"
      end
      deflated(session, message)
    end
  end

  # In a separate process, so that only these connections use its memory.
  def chatting(endpoint, compressed:, takeover:)
    in_fork do
      messages = JsonMessages.of(125).first(2 * MESSAGES)
      frames = frames_of(messages.first(MESSAGES), compressed:, takeover:)
      answers = messages.last(MESSAGES)
      GC.start
      before = resident
      connections = Array.new(CONNECTIONS) { endpoint.call }
      sent = 0
      cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      frames.zip(answers) do |frame, answer|
        connections.each { |connection| sent += connection.call(frame, answer).bytesize }
      end
      cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu
      count = CONNECTIONS * MESSAGES
      GC.start
      [cpu * 1e6 / count, (resident - before) / 1024.0 / CONNECTIONS, sent.fdiv(count)]
    end
  end

  def frames_of(messages, compressed:, takeover:)
    deflate = nil
    messages.map do |message|
      next Client.frame(:text, message) unless compressed

      deflate = nil unless takeover
      deflate ||= Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -15)
      payload = deflate.deflate(message, Zlib::SYNC_FLUSH).delete_suffix(TAIL)
      Client.frame(:text, payload, rsv1: true)
    end
  end

  def resident = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i << 10

  def in_fork
    output = IO.popen("-") do |pipe|
      next pipe.read if pipe

      print yield.join(" ")
    end
    output.split.map(&:to_f)
  end
end

DeflateBench.new.run
