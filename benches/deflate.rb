# frozen_string_literal: true

require "ws_unmask"
require "zlib"
require_relative "../examples/client"
require_relative "support/json_messages"
require_relative "support/rounds"

# Compressed messages: this gem, the sessions of the gem permessage_deflate, and Ruby's Zlib alone.
#
# What the others are not made for is done by this gem for them: the sessions get unmasked payloads,
# and their output is put into frames. Zlib alone does neither.
class DeflateBench
  SIZES = [125, 1 << 10, 16 << 10, 1 << 20].freeze
  TAIL = "\x00\x00\xff\xff".b.freeze
  CONNECTIONS = 400
  MESSAGES = 50 # that each connection receives, and sends

  # What the gem's sessions read and write.
  Message = Struct.new(:rsv1, :data)

  def initialize
    folders = Gem.path.map { |path| "#{path}/gems/permessage_deflate-*/lib" }
    $LOAD_PATH.concat(Dir[*folders].last(1)) # also where it is not in the Gemfile
    require "permessage_deflate"
    @session = true
  rescue LoadError
    puts "the gem permessage_deflate is not installed: left out", ""
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
    puts "", "#{title}: JSON messages that differ, ns each",
         format("%10s %12s %12s %12s %12s %12s", "bytes", "ws_unmask", "the gem", "Zlib alone",
                "gem/ours", "Zlib/ours")
    SIZES.each do |size|
      ns = Rounds.medians(yield(size))
      gem = ns[:session] || Float::NAN
      puts format("%10d %12.0f %12.0f %12.0f %11.2fx %11.2fx", size, ns[:ours], gem, ns[:zlib],
                  gem / ns[:ours], ns[:zlib] / ns[:ours])
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
    session = server_session
    zlib = Zlib::Inflate.new(-15)
    check(messages, frames.flat_map { |frame| decoder.feed(frame) }.map(&:last))
    check(messages, masked.map { |payload| inflated(session, payload, key) }) if session
    check(messages, payloads.map { |payload| zlib.inflate(payload) + zlib.inflate(TAIL) })
    loops({ ours: "decoder.feed(frames[i % count]) { |type, text| text }",
            session: "inflated(session, masked[i % count], key)",
            zlib: "zlib.inflate(payloads[i % count]); zlib.inflate(TAIL)" }, binding)
  end

  def deflating(size)
    messages = JsonMessages.of(size)
    count = messages.size
    agreement = WsUnmask::Deflate.new.accept("permessage-deflate")
    encoder = WsUnmask::Encoder.new(deflate: agreement, threshold: 0)
    session = server_session
    zlib = Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -15)
    ours = messages.map { |message| encoder.encode(:text, message) }
    theirs = messages.map { |message| deflated(session, message) } if session
    [ours, theirs].compact.each { |frames| check(messages, received(frames)) }
    raw = messages.map { |message| zlib.deflate(message, Zlib::SYNC_FLUSH) }
    puts format("%10s %12d %12d %12d   of %d bytes", "sent:", ours.sum(&:bytesize),
                theirs.to_a.sum(&:bytesize), raw.sum(&:bytesize), size * count)
    loops({ ours: "encoder.encode(:text, messages[i % count])",
            session: "deflated(session, messages[i % count])",
            zlib: "zlib.deflate(messages[i % count], Zlib::SYNC_FLUSH)" }, binding)
  end
  # --

  def loops(calls, scope)
    calls = calls.except(:session) unless @session
    calls.transform_values { |call| Rounds.loop_around(call, scope) }
  end

  def server_session(offer = {})
    return unless @session

    ::PermessageDeflate.create_server_session([offer]).tap(&:generate_response)
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

  # What a connection costs that receives a message of 125 bytes and sends one, again and again.
  def chat
    puts "", "#{CONNECTIONS} connections, each receives and sends #{MESSAGES} JSON messages of " \
             "125 bytes",
         format("%-46s %12s %14s %12s", "", "CPU, us each", "KiB/connection", "bytes sent")
    { "without compression" => -> { endpoint(nil) },
      "ws_unmask, context takeover, 15 bits" => -> { endpoint({}) },
      "ws_unmask, context takeover, 12 bits" => -> { endpoint({ server_max_window_bits: 12 }) },
      "ws_unmask, no context takeover" => lambda {
        endpoint({ server_no_context_takeover: true, client_no_context_takeover: true })
      },
      "the gem, context takeover" => -> { session_endpoint({}) },
      "the gem, no context takeover" => lambda {
        session_endpoint({ "server_no_context_takeover" => true,
                           "client_no_context_takeover" => true })
      } }.each do |title, endpoint|
      next if title.start_with?("the gem") && !@session

      us, kib, bytes = chatting(endpoint, compressed: title != "without compression",
                                          takeover: !title.include?("no context"))
      puts format("%-46s %12.2f %14.1f %12.0f", title, us, kib, bytes)
    end
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

  # Its header is taken off by the Decoder, as a driver would.
  def session_endpoint(offer)
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

  # In a process of its own, so that memory is that of these connections.
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
