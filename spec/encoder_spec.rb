# frozen_string_literal: true

require "objspace"
require_relative "support/child"
require_relative "support/zlib_peer"

RSpec.describe WsUnmask::Encoder do
  include Child

  subject(:encoder) { described_class.new }

  let(:agreement) { WsUnmask::Deflate.new.accept("permessage-deflate; client_max_window_bits") }
  let(:client_agreement) { WsUnmask::Deflate.new.confirm("permessage-deflate") }

  # The first byte and the payload of each frame, by the library's own parser.
  def frames_in(bytes)
    frames = []
    until bytes.empty?
      frame = WsUnmask::Frame.decode(bytes, require_mask: false, allow_reserved: [1])
      frames << frame
      bytes = bytes.byteslice(frame.size..)
    end
    frames
  end

  describe ".new" do
    it "makes an object of a subclass, whose initialize runs" do
      named = Class.new(described_class) do
        attr_reader :name

        def initialize(name, **options)
          super(**options)
          @name = name
        end
      end
      expect(named.new("lobby", mask: true)).to have_attributes(name: "lobby")
      quiet = Class.new(described_class) { def initialize = nil }
      expect(quiet.new.encode(:text, "Hello")).to eq "\x81\x05Hello".b
    end

    it "refuses invalid options, and names them" do
      {
        { level: 10 } => [ArgumentError, "level must be in 0..9, not 10"],
        { level: "9" } => [TypeError, "level must be an Integer, not String"],
        { threshold: -1 } => [ArgumentError, "threshold must not be negative, but is -1"],
        { threshold: nil } => [TypeError, "threshold must be an Integer of bytes, not nil"],
        { deflate: WsUnmask::Deflate.new } =>
          [TypeError, /deflate must be a .*Agreement or nil, not WsUnmask::Deflate/],
        { masked: true } => [ArgumentError, /masked/]
      }.each do |options, error|
        expect { described_class.new(**options) }.to raise_error(*error)
      end
    end

    it "cannot be repeated on the same object" do
      expect { encoder.send(:initialize) }.to raise_error(TypeError, "already initialized")
    end
  end

  describe "#dup" do
    it "is refused: a stream has only one encoder" do
      expect { encoder.dup }.to raise_error(TypeError, /cannot be copied/)
      expect { encoder.clone }.to raise_error(TypeError, /cannot be copied/)
    end
  end

  describe "#encode" do
    it "encodes the frames that Frame.encode does" do
      [[:text, "grüß"], [:binary, "\xff\x00".b], [:ping, "?"], [:pong, ""], [2, "x" * 126],
       [:binary, "y" * 70_000], [:close, WsUnmask::Close.new(1000, "bye")],
       [:close, ""]].each do |type, payload|
        frame = encoder.encode(type, payload)
        expect(frame).to eq WsUnmask::Frame.encode(type, payload)
        expect(frame.encoding).to be Encoding::ASCII_8BIT
      end
    end

    it "refuses what Frame.encode refuses, with the same message" do
      [[:text, "\xff"], [:text, "x".encode("UTF-16LE")], [:text, nil], [:ping, "x" * 126],
       [:close, WsUnmask::Close.new(1005, "")], [:close, 1000], [:message, "x"],
       [7, "x"]].each do |arguments|
        error = begin
          WsUnmask::Frame.encode(*arguments)
        rescue StandardError => e
          e
        end
        expect { encoder.encode(*arguments) }.to raise_error(error.class, error.message)
      end
    end

    it "refuses a continuation, since it encodes whole messages" do
      expect { encoder.encode(:continuation, "x") }
        .to raise_error(ArgumentError, "continuation frame without a message to continue")
    end

    context "with mask: true" do
      let(:encoder) { described_class.new(mask: true) }

      it "masks each frame with a key of its own" do
        frames = Array.new(many(1000)) { |i| encoder.encode(:text, "message #{i}") }
        frames.each_with_index do |frame, i|
          decoded = WsUnmask::Frame.decode(frame)
          expect(decoded).to be_masked
          expect(decoded.payload).to eq "message #{i}"
        end
        keys = frames.map { |frame| frame.byteslice(2, 4) }
        expect(keys.uniq.size).to be > keys.size - 3
      end
    end

    context "with deflate" do
      let(:encoder) { described_class.new(deflate: agreement, threshold: 0) }

      it "compresses the examples of RFC 7692, section 7.2.3" do
        expect(Array.new(2) { encoder.encode(:text, "Hello").unpack1("H*") })
          .to eq %w[c107f248cdc9c90700 c105f200110000]
      end

      it "compresses so that another implementation can inflate" do
        random = Random.new(RSpec.configuration.seed)
        [0, 1, 6, 9].product([9, 15], [true, false]).each do |level, window_bits, takeover|
          wanted = WsUnmask::Deflate.new(server_max_window_bits: window_bits,
                                         server_no_context_takeover: !takeover)
          encoder = described_class.new(deflate: wanted.accept("permessage-deflate"), level:,
                                        threshold: 50)
          messages = Array.new(many(30)) do
            [%({"id":#{random.rand(1000)}}) * random.rand(500), "ü" * random.rand(60_000),
             random.bytes(random.rand(3000))].sample(random:)
          end
          peer = ZlibPeer.new(window_bits:, context_takeover: takeover)
          got = frames_in(messages.map { |message| encoder.encode(:binary, message) }.join)
          got = got.map { |frame| frame.rsv1? ? peer.inflate(frame.payload) : frame.payload }
          expect(got).to eq messages.map(&:b)
        end
      end

      it "leaves messages under the threshold and control frames as they are" do
        encoder = described_class.new(deflate: agreement, threshold: 100)
        [[:text, "x" * 99], [:ping, "x" * 125],
         [:close, WsUnmask::Close.new(1000, "x" * 100)]].each do |message|
          expect(encoder.encode(*message)).to eq WsUnmask::Frame.encode(*message)
        end
        expect(encoder.encode(:text, "x" * 100).bytesize).to be < 20
      end

      it "compresses from 128 bytes on, unless told otherwise" do
        encoder = described_class.new(deflate: agreement)
        expect(encoder.encode(:text, "x" * 127).bytesize).to eq 131
        expect(encoder.encode(:text, "x" * 128).bytesize).to be < 20
      end

      it "sends messages uncompressed if that is shorter, without context takeover" do
        wanted = WsUnmask::Deflate.new(server_no_context_takeover: true)
        encoder = described_class.new(deflate: wanted.accept("permessage-deflate"), threshold: 0)
        noise = Random.bytes(500)
        expect(encoder.encode(:binary, noise)).to eq WsUnmask::Frame.encode(:binary, noise)
      end

      it "compresses smaller with a higher level" do
        text = Array.new(3000) { |i| "message #{i * i % 1009} " }.join
        sizes = [0, 1, 9].map do |level|
          described_class.new(deflate: agreement, level:).encode(:text, text).bytesize
        end
        expect(sizes).to eq sizes.sort.reverse
        expect(sizes.first).to be > text.bytesize
      end

      it "checks the content of what it compresses" do
        expect { encoder.encode(:text, "caf\xe9 " * 100) }
          .to raise_error(ArgumentError, "text is not valid UTF-8")
      end
    end

    it "returns the same while every allocation collects garbage" do
      encoders = [described_class.new(mask: true, deflate: client_agreement, threshold: 10),
                  described_class.new(mask: true, deflate: client_agreement, threshold: 10)]
      messages = ["x" * 5, "grüß " * 1000, "y" * 70_000, Random.bytes(10_000)]
      calm = messages.map { |message| encoders[0].encode(:binary, message) }
      output = String.new
      GC.stress = true
      messages.each { |message| encoders[1].encode_into(output, :binary, message) }
      GC.stress = false
      decoded = [calm.join, output].map do |frames|
        WsUnmask::Decoder.new(deflate: agreement).feed(frames)
      end
      expect(decoded.first == decoded.last && decoded.last.size == 4).to be true
    ensure
      GC.stress = false
    end

    it "continues after NoMemoryError, without referring back to messages that were not sent",
       :limited_memory do
      expect(in_child(<<~'RUBY')).to eq "no_memory no_memory 5 Hello Hello\n"
        require "zlib"
        deflate = WsUnmask::Deflate.new
        encoder = WsUnmask::Encoder.new(deflate: deflate.accept("permessage-deflate"), threshold: 0)
        decoder = WsUnmask::Decoder.new(require_mask: false,
                                        deflate: deflate.confirm("permessage-deflate"))
        stream = encoder.encode(:text, "Hello") # the state is there
        noise = Random.bytes(50 << 20)
        output = +"12345"
        GC.start
        size = File.read("/proc/self/statm").to_i * 4096
        # Enough memory for the compressed bytes, but not for a String of them.
        Process.setrlimit(:AS, size + (80 << 20), Process::RLIM_INFINITY)
        got = [-> { encoder.encode(:binary, noise) },
               -> { encoder.encode_into(output, :binary, noise) }].map do |call|
          call.call
        rescue NoMemoryError
          :no_memory
        end
        Process.setrlimit(:AS, Process::RLIM_INFINITY, Process::RLIM_INFINITY)
        stream << encoder.encode(:text, "Hello")
        puts (got + [output.bytesize] + decoder.feed(stream).map(&:last)).join(" ")
      RUBY
    end
  end

  describe "#encode_into" do
    it "appends what #encode returns, to a String of any encoding and size" do
      messages = [[:text, "grüß"], [:ping, ""], [:binary, "x" * 100_000], [:text, "y" * 300],
                  [:text, "z" * 256], [:text, "z" * 257],
                  [:close, WsUnmask::Close.new(1000, "bye")]]
      expected = messages.map { |message| described_class.new.encode(*message) }.join
      [String.new, +"", String.new(capacity: 10), String.new(capacity: 1 << 20),
       "in front".b * 20, "ü" * 30, "long enough to be shared " * 9].each do |output|
        before = output.b
        encoding = output.encoding
        messages.each { |message| expect(encoder.encode_into(output, *message)).to be output }
        expect(output.b).to eq before + expected
        expect(output.encoding).to be encoding
      end
    end

    it "masks, and compresses" do
      client = described_class.new(mask: true, deflate: client_agreement)
      output = String.new
      messages = ["Hello", "v" * 100, "w" * 127, "x" * 5000, Random.bytes(9000), "y" * 4096,
                  "z" * 4097]
      messages.each { |message| client.encode_into(output, :binary, message) }
      expect(frames_in(output).map(&:masked?).uniq).to eq [true]
      decoder = WsUnmask::Decoder.new(deflate: agreement)
      expect(decoder.feed(output)).to eq(messages.map { |message| [:binary, message.b] })
    end

    it "does not refer back to a message that could not be appended" do
      encoder = described_class.new(deflate: agreement, threshold: 0)
      decoder = WsUnmask::Decoder.new(require_mask: false, deflate: client_agreement)
      stream = encoder.encode(:text, "Hello")
      expect { encoder.encode_into("", :text, "Hello, world") }.to raise_error(FrozenError)
      encoder.encode_into(stream, :text, "Hello, world")
      expect(decoder.feed(stream).map(&:last)).to eq ["Hello", "Hello, world"]
    end

    it "never changes other Strings that share memory with the output or the payload" do
      output = "0123456789" * 20
      copy = output.dup
      part = output.byteslice(10, 150)
      encoder.encode_into(output, :binary, part)
      expect(output).to eq (copy.b + encoder.encode(:binary, part)).force_encoding("UTF-8")
      expect([copy, part]).to eq ["0123456789" * 20, "0123456789" * 15]
    end

    it "resets the code range of the output" do
      output = +"ascii"
      expect(output).to be_ascii_only
      encoder.encode_into(output, :text, "grüß")
      expect(output).not_to be_ascii_only
      expect(output).not_to be_valid_encoding
    end

    it "refuses an output that is frozen, locked, the payload or no String, unchanged" do
      output = "frozen"
      expect { encoder.encode_into(output.freeze, :text, "x") }.to raise_error(FrozenError)
      expect { encoder.encode_into(nil, :text, "x") }
        .to raise_error(TypeError, "output must be a String, not nil")
      payload = +"payload"
      expect { encoder.encode_into(payload, :text, payload) }
        .to raise_error(ArgumentError, "output and payload are the same String")
      expect { encoder.encode_into(payload, :text, "\xff") }.to raise_error(ArgumentError)
      expect(payload).to eq "payload"
    end
  end

  describe "both ends" do
    it "understand each other in both roles, in chunks of any size, with any parameters" do
      random = Random.new(RSpec.configuration.seed)
      many(60).times do
        client = WsUnmask::Deflate.new(client_no_context_takeover: random.rand(2).zero?,
                                       server_max_window_bits: random.rand(9..15))
        server = WsUnmask::Deflate.new(server_no_context_takeover: random.rand(2).zero?,
                                       client_max_window_bits: random.rand(9..15))
        accepted = server.accept(client.offer)
        confirmed = client.confirm(accepted.response)
        options = { level: random.rand(0..9), threshold: random.rand(300) }
        [
          [described_class.new(deflate: accepted, **options),
           WsUnmask::Decoder.new(require_mask: false, deflate: confirmed)],
          [described_class.new(deflate: confirmed, mask: true, **options),
           WsUnmask::Decoder.new(deflate: accepted)]
        ].each do |encoder, decoder|
          messages = Array.new(10) do
            [[:text, "grüß #{random.rand(9)} " * random.rand(500)], [:ping, "?"],
             [:binary, random.bytes(random.rand(2000))]].sample(random:)
          end
          output = String.new
          messages.each { |message| encoder.encode_into(output, *message) }
          pieces = output.scan(/.{1,#{random.rand(1..3000)}}/mn)
          expect(pieces.flat_map { |piece| decoder.feed(piece) }).to eq messages
        end
      end
    end

    it "need no lock to encode whole frames on several threads" do
      output = String.new
      Array.new(4) do |thread|
        Thread.new { many(500).times { |i| encoder.encode_into(output, :text, "#{thread} #{i}") } }
      end.each(&:join)
      messages = WsUnmask::Decoder.new(require_mask: false).feed(output)
      expect(messages.group_by { |_, text| text.to_i }.transform_values(&:size).values)
        .to eq [many(500)] * 4
    end
  end

  describe "memory" do
    it "is what ObjectSpace says" do
      empty = ObjectSpace.memsize_of(encoder)
      expect(empty).to be < 400
      { 15 => 273, 12 => 161, 9 => 147 }.each do |bits, kib| # as the documentation says
        wanted = WsUnmask::Deflate.new(server_max_window_bits: bits)
        encoder = described_class.new(deflate: wanted.accept("permessage-deflate"))
        encoder.encode(:text, "x" * 200)
        expect(ObjectSpace.memsize_of(encoder) / 1024).to eq kib
      end
      wanted = WsUnmask::Deflate.new(server_no_context_takeover: true)
      encoder = described_class.new(deflate: wanted.accept("permessage-deflate"))
      encoder.encode(:text, "x" * 200)
      expect(ObjectSpace.memsize_of(encoder)).to be_within(256).of(empty)
    end

    it "lets Ruby collect encoders that are no longer referenced" do
      runs, peak = in_child(<<~'RUBY').split.map(&:to_i)
        agreement = WsUnmask::Deflate.new.accept("permessage-deflate")
        text = "x" * 200
        before = GC.count
        5000.times { WsUnmask::Encoder.new(deflate: agreement).encode(:text, text) }
        puts GC.count - before, File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1]
      RUBY
      expect(runs).to be > 5
      expect(peak).to be < 200 << 10
    end
  end
end
