# frozen_string_literal: true

require "objspace"
require_relative "support/bomb"
require_relative "support/frames"
require_relative "support/zlib_peer"

RSpec.describe WsUnmask::Decoder do
  include Bomb
  include Frames

  subject(:decoder) { described_class.new }

  # All messages of the pieces, fed with a block.
  def fed(*pieces, decoder: described_class.new)
    messages = []
    pieces.each { |piece| decoder.feed(piece) { |*message| messages << message } }
    messages
  end

  describe ".new" do
    it "makes an object of a subclass, whose initialize runs" do
      room = Class.new(described_class) do
        attr_reader :name

        def initialize(name, **options)
          super(**options)
          @name = name
        end
      end
      lobby = room.new("lobby", max_message_size: 3)
      expect(lobby).to be_an_instance_of(room)
      expect(lobby.name).to eq "lobby"
      expect { lobby.feed(hello) }.to raise_error(WsUnmask::MessageTooBigError)
    end

    it "makes a decoder with the defaults for a subclass that does not call super" do
      quiet = Class.new(described_class) { def initialize = @quiet = true }
      expect(quiet.new.feed(hello)).to eq [[:text, "Hello"]]
    end

    it "refuses invalid options, and names them" do
      wrong = {
        { max_size: 1 } => [ArgumentError, /max_size/],
        { max_message_size: -1 } => [ArgumentError,
                                     "max_message_size must not be negative, but is -1"],
        { max_message_size: "1MB" } => [TypeError,
                                        /max_message_size must be an Integer.*not String/],
        { max_message_size: Float::INFINITY } => [TypeError,
                                                  /max_message_size .* nil for no limit/],
        { max_frame_size: 1.9 } => [TypeError, /max_frame_size must be an Integer.*not Float/],
        { allow_reserved: 1 } => [TypeError, /allow_reserved must be an Array.*not Integer/],
        { allow_reserved: [4] } => [ArgumentError, /allow_reserved must be of 1, 2 and 3.*not 4/],
        { allow_reserved: ["1"] } => [ArgumentError, /not String/]
      }
      wrong.each do |options, error|
        expect { described_class.new(**options) }.to raise_error(*error)
      end
      expect { described_class.new(1) }.to raise_error(ArgumentError)
    end

    it "takes any size, and nil for none" do
      [nil, 0, 2**63, 10**30].each do |size|
        expect(described_class.new(max_message_size: size, max_frame_size: size)).not_to be_closed
      end
    end

    it "cannot be repeated on the same object" do
      expect { decoder.send(:initialize) }.to raise_error(TypeError, "already initialized")
      allocated = described_class.allocate
      allocated.feed(hello) do
        expect { allocated.send(:initialize) }.to raise_error(TypeError, "already initialized")
      end
    end
  end

  describe "#dup" do
    it "is refused: a stream has only one decoder" do
      expect { decoder.dup }.to raise_error(TypeError, /cannot be copied/)
      expect { decoder.clone }.to raise_error(TypeError, /cannot be copied/)
    end
  end

  describe "#inspect" do
    it "shows its state and how many bytes it holds" do
      expect(decoder.inspect).to eq "#<WsUnmask::Decoder open, 0 bytes of an unfinished message, " \
                                    "0 undelivered>"
      decoder.feed(hello * 3) { break }
      decoder.feed(frame(:binary, "12345", fin: false)) { break }
      expect(decoder.inspect).to include("open, 5 bytes", "1 undelivered")
      expect { decoder.feed("\xff") { nil } }.to raise_error(WsUnmask::ProtocolError)
      expect(decoder.inspect).to include "failed"
    end

    it "says that the stream is closed, also in a block" do
      decoder.feed(frame(:close)) { expect(decoder.inspect).to include "closed" }
      expect(decoder.inspect).to include "closed"
    end
  end

  describe "#feed" do
    it "decodes the example of RFC 6455, section 5.7" do
      expect(decoder.feed(hello)).to eq [[:text, "Hello"]]
      expect(fed(hello)).to eq [[:text, "Hello"]]
    end

    it "returns the decoder if it was given a block" do
      expect(decoder.feed(hello) { nil }).to be decoder
    end

    it "returns no message before its last byte" do
      pieces = hello.each_char.to_a
      expect(pieces[..-2].flat_map { |byte| decoder.feed(byte) }).to eq []
      expect(decoder.feed(pieces.last)).to eq [[:text, "Hello"]]
    end

    it "joins fragments, and yields control frames between them" do
      stream = frame(:text, "Hel", fin: false) + frame(:ping, "?") +
               frame(:continuation, "lo") + frame(:pong, "!")
      expected = [[:ping, "?"], [:text, "Hello"], [:pong, "!"]]
      expect(fed(stream)).to eq expected
      expect(fed(*stream.each_char)).to eq expected
      expect(decoder.feed(stream)).to eq expected
    end

    it "returns the same messages for chunks of any size" do
      random = Random.new(RSpec.configuration.seed)
      messages = Array.new(many(200)) do
        length = [rand(0..125), rand(0..4000), rand(60_000..70_000)].sample(random:)
        case random.rand(4)
        when 0 then [:text, "x" * length]
        when 1 then [:text, ("grüß " * ((length / 7) + 1)).byteslice(0, length).scrub("?")]
        when 2 then [:binary, random.bytes(length)]
        else [:ping, random.bytes(length % 126)]
        end
      end
      stream = messages.map { |type, payload| frame(type, payload) }.join
      expect(fed(stream)).to eq messages
      expect(fed(*cut(stream, random:))).to eq messages
      decoder = described_class.new
      expect(cut(stream, random:).flat_map { |piece| decoder.feed(piece) }).to eq messages
    end

    it "returns everything but text in ASCII-8BIT" do
      messages = fed(frame(:binary, "x"), frame(:ping, "x"), frame(:pong, "x"),
                     frame(:binary, "y" * 300_000))
      expect(messages.map { |_, payload| payload.encoding }.uniq).to eq [Encoding::ASCII_8BIT]
    end

    it "refuses arguments that are not Strings, and names them" do
      expect { decoder.feed(nil) }.to raise_error(TypeError, "bytes must be a String, not nil")
      expect { decoder.feed(1) { nil } }
        .to raise_error(TypeError, "bytes must be a String, not Integer")
    end

    it "does not touch the String, frozen or not" do
      bytes = hello.freeze
      expect(fed(bytes)).to eq [[:text, "Hello"]]
      expect(bytes).to eq hello
    end

    context "with text" do
      it "returns UTF-8 with a known code range" do
        texts = ["", "Hello", "grüß", "x" * 5000, "#{"x" * 40_000}ü", "語" * 30_000]
        texts.each do |text|
          whole = fed(frame(:text, text))[0][1]
          half = text.bytesize / 2
          stream = frame(:text, text.byteslice(0, half), fin: false) +
                   frame(:continuation, text.byteslice(half..))
          [whole, fed(stream)[0][1], fed(*cut(frame(:text, text)))[0][1]].each do |got|
            expect(got).to eq text
            expect(got.encoding).to be Encoding::UTF_8
            # A copy has no known code range, so Ruby has to scan it.
            expect(got.ascii_only?).to be text.dup.ascii_only?
            expect(got.valid_encoding?).to be true
            expect(got.length).to eq text.chars.size
            expect(got.upcase).to eq text.upcase
          end
        end
      end

      it "does not check it with validate_utf8: false" do
        decoder = described_class.new(validate_utf8: false)
        (_, text), (_, ascii) = decoder.feed(frame(:text, "caf\xe9") + frame(:text, "cafe"))
        expect(text.encoding).to be Encoding::UTF_8
        expect(text).not_to be_valid_encoding
        expect(ascii).to be_ascii_only
      end

      it "raises at the first invalid byte, before the rest of the message" do
        bytes = frame(:text, "caf\xe9 and what follows", fin: false)
        expect(decoder.feed(bytes.byteslice(0, 10))).to eq []
        expect { decoder.feed(bytes.byteslice(10, 1)) }
          .to raise_error(WsUnmask::InvalidPayloadError)
      end
    end

    context "with a close frame" do
      it "returns a Close" do
        type, close = decoder.feed(frame(:close, [4001].pack("n") + "grüß".b))[0]
        expect(type).to be :close
        expect(close).to eq WsUnmask::Close.new(4001, "grüß")
        expect(close.reason.encoding).to be Encoding::UTF_8
        expect(fed(frame(:close))).to eq [[:close, WsUnmask::Close.new(nil, "")]]
      end

      it "discards what follows" do
        expect(decoder.feed(frame(:close) + hello).size).to eq 1
        expect(decoder.feed("\xff\xff\xff".b)).to eq []
      end
    end

    context "with a protocol violation" do
      violations = {
        "an unmasked frame" => ["\x81\x00", WsUnmask::NotMaskedError, 1002, 1],
        "a reserved bit" => ["\xc1\x80", WsUnmask::ProtocolError, 1002, 0],
        "a reserved opcode" => ["\x83\x80", WsUnmask::ProtocolError, 1002, 0],
        "a fragmented control frame" => ["\x09\x80", WsUnmask::ProtocolError, 1002, 0],
        "a control frame over 125 bytes" => ["\x89\xfe", WsUnmask::ProtocolError, 1002, 1],
        "a continuation without a start" => ["\x80\x80\0\0\0\0", WsUnmask::ProtocolError, 1002, 0],
        "a message inside of another" => ["\x01\x80\0\0\0\0\x81\x80\0\0\0\0",
                                          WsUnmask::ProtocolError, 1002, 6],
        "a length not in its shortest form" => ["\x82\xfe\x00\x7d",
                                                WsUnmask::ProtocolError, 1002, 3],
        "the top bit of a 64-bit length" => ["\x82\xff\x80\0\0\0\0\0\0\0",
                                             WsUnmask::ProtocolError, 1002, 9],
        "a close frame of one byte" => ["\x88\x81\0\0\0\0\x03", WsUnmask::ProtocolError, 1002, 6],
        "a close code that must not be sent" => ["\x88\x82\0\0\0\0\x03\xed",
                                                 WsUnmask::ProtocolError, 1002, 7],
        "a close reason that is not UTF-8" => ["\x88\x83\0\0\0\0\x03\xe8\xff",
                                               WsUnmask::InvalidPayloadError, 1007, 8],
        "text that is not UTF-8" => ["\x81\x83\0\0\0\0a\xffb",
                                     WsUnmask::InvalidPayloadError, 1007, 7],
        "a message over the limit" => ["\x82\xff\0\0\0\0\x04\0\0\x01\0\0\0\0",
                                       WsUnmask::MessageTooBigError, 1009, 9]
      }

      violations.each do |name, (bytes, error, code, offset)|
        it "raises #{error.name} with #{code} and the offset for #{name}" do
          offset += hello.bytesize
          [[hello + bytes.b], [hello, *bytes.b.chars]].each do |pieces|
            decoder = described_class.new
            expect { pieces.each { |piece| decoder.feed(piece) { nil } } }
              .to raise_error(an_instance_of(error).and(have_attributes(code:, offset:)))
          end
        end
      end

      it "yields the messages before it, then raises" do
        stream = hello + hello + "\x81\x00".b
        messages = []
        expect { decoder.feed(stream) { |_, text| messages << text } }
          .to raise_error(WsUnmask::NotMaskedError, "frame is not masked")
        expect(messages).to eq %w[Hello Hello]
      end

      it "returns the messages before it, and raises at the next call" do
        expect(decoder.feed(hello + "\x81\x00".b)).to eq [[:text, "Hello"]]
        expect { decoder.feed("") }.to raise_error(WsUnmask::NotMaskedError)
      end

      it "raises at every later call" do
        expect { decoder.feed("\x81\x00".b) }.to raise_error(WsUnmask::NotMaskedError)
        2.times do
          expect { decoder.feed(hello) }
            .to raise_error(an_instance_of(WsUnmask::NotMaskedError)
                            .and(have_attributes(offset: 1)))
          expect { decoder.feed(hello) { nil } }.to raise_error(WsUnmask::NotMaskedError)
        end
      end
    end

    context "with max_message_size or max_frame_size" do
      it "limits messages, over all fragments, and frames" do
        decoder = described_class.new(max_message_size: 10)
        expect { decoder.feed(frame(:text, "x" * 6, fin: false) + frame(:continuation, "x" * 5)) }
          .to raise_error(WsUnmask::MessageTooBigError,
                          "message of 11 bytes or more is over the limit of 10")
        decoder = described_class.new(max_frame_size: 5)
        expect { decoder.feed(frame(:text, "x" * 6)) }
          .to raise_error(WsUnmask::MessageTooBigError, "frame of 6 bytes is over the limit of 5")
      end
    end

    context "with require_mask: false" do
      it "accepts unmasked frames" do
        expect(described_class.new(require_mask: false).feed("\x81\x05Hello".b + hello))
          .to eq [[:text, "Hello"], [:text, "Hello"]]
      end
    end

    context "with forbid_mask: true" do
      it "accepts only unmasked frames" do
        decoder = described_class.new(forbid_mask: true)
        expect(decoder.feed("\x81\x05Hello".b)).to eq [[:text, "Hello"]]
        expect { decoder.feed(hello) }
          .to raise_error(an_instance_of(WsUnmask::ProtocolError)
          .and(have_attributes(message: "frame is masked", offset: 8, code: 1002)))
      end
    end

    context "with allow_reserved" do
      it "returns the bits, and does not check the text" do
        decoder = described_class.new(allow_reserved: [1, 3])
        compressed = "\xd1\x81\0\0\0\0\xff".b
        expect(decoder.feed(compressed + hello)).to eq [[:text, "\xff".b, [1, 3]],
                                                        [:text, "Hello", []]]
        expect(fed(compressed, decoder:)).to eq [[:text, "\xff".b, [1, 3]]]
        expect { decoder.feed("\xa1\x80".b) }
          .to raise_error(WsUnmask::ProtocolError, /RSV1 = 0, RSV2 = 1, RSV3 = 0/)
      end

      # RFC 7692, section 6: RSV1 belongs to the message, so it is set on its first frame only.
      it "refuses RSV1 on control and continuation frames" do
        ["\xc9\x80\0\0\0\0", "\xc8\x80\0\0\0\0", "\x41\x80\0\0\0\0\xc0\x80\0\0\0\0"].each do |bytes|
          decoder = described_class.new(allow_reserved: [1])
          expect { decoder.feed(bytes.b) }.to raise_error(WsUnmask::ProtocolError, /RSV1 = 1/)
        end
      end
    end

    context "with deflate" do
      let(:agreement) { WsUnmask::Deflate.new.accept("permessage-deflate") }
      let(:peer) { ZlibPeer.new }

      def decoder_with(agreement, **options)
        described_class.new(deflate: agreement, **options)
      end

      # The compressed frames of a message, in as many fragments.
      def compressed(type, payload, fragments: 1, peer: self.peer)
        deflated = peer.deflate(payload.b)
        size = [deflated.bytesize.fdiv(fragments).ceil, 1].max
        pieces = Array.new(fragments) { |index| deflated.byteslice(index * size, size) || "" }
        pieces.map.with_index do |piece, index|
          frame(index.zero? ? type : :continuation, piece, fin: index == fragments - 1,
                                                           rsv1: index.zero?)
        end.join
      end

      it "inflates the examples of RFC 7692, section 7.2.3" do
        hello = %w[f248cdc9c90700 f200110000 000500faff48656c6c6f00]
        stream = hello.map { |digits| frame(:text, [digits].pack("H*"), rsv1: true) }.join
        expect(decoder_with(agreement).feed(stream)).to eq [[:text, "Hello"]] * 3
      end

      it "inflates what another implementation has compressed, in chunks of any size" do
        random = Random.new(RSpec.configuration.seed)
        [true, false].product([9, 12, 15]).each do |context_takeover, window_bits|
          peer = ZlibPeer.new(context_takeover:, window_bits:)
          header = "permessage-deflate; client_max_window_bits=#{window_bits}" \
                   "#{"; client_no_context_takeover" unless context_takeover}"
          agreement = WsUnmask::Deflate.new(client_max_window_bits: window_bits).accept(header)
          messages = Array.new(many(40)) do
            case random.rand(4)
            when 0 then [:text, ""]
            when 1 then [:text, "grüß dich, " * random.rand(10_000)]
            when 2 then [:binary, random.bytes(random.rand(5000))]
            else [:text, %({"user":#{random.rand(10)},"text":"message #{random.rand(1000)}"})]
            end
          end
          stream = messages.map do |type, payload|
            next frame(type, payload) if random.rand(4).zero? # as it is

            compressed(type, payload, fragments: random.rand(1..4), peer:)
          end.join(frame(:ping, "between"))
          stream = cut(stream, random:)
          got = fed(*stream, decoder: decoder_with(agreement)).reject { |type,| type == :ping }
          expect(got).to eq messages
          expect(got.map { |_, payload| payload.encoding }.uniq - [Encoding::UTF_8])
            .to eq [Encoding::ASCII_8BIT]
        end
      end

      it "inflates messages from a server" do
        client = WsUnmask::Deflate.new.confirm("permessage-deflate; server_no_context_takeover")
        stream = ["c107f248cdc9c90700"].pack("H*") * 2
        expect(decoder_with(client, require_mask: false).feed(stream)).to eq [[:text, "Hello"]] * 2
      end

      it "returns only the reserved bits that are allowed" do
        decoder = decoder_with(agreement, allow_reserved: [3])
        both = compressed(:binary, "x").tap { |bytes| bytes.setbyte(0, bytes.getbyte(0) | 0x10) }
        expect(decoder.feed(both)).to eq [[:binary, "x", [3]]]
      end

      it "refuses RSV1 without it, and on all but the first frame of a message" do
        expect { decoder.feed(compressed(:text, "x")) }
          .to raise_error(WsUnmask::ProtocolError, /RSV1 = 1/)
        ["\xc9\x80\0\0\0\0", "\x41\x80\0\0\0\0\xc0\x80\0\0\0\0"].each do |bytes|
          expect { decoder_with(agreement).feed(bytes.b) }
            .to raise_error(WsUnmask::ProtocolError, /RSV1 = 1/)
        end
      end

      it "raises for anything but an agreement" do
        expect { described_class.new(deflate: true) }
          .to raise_error(TypeError,
                          "deflate must be a WsUnmask::Deflate::Agreement or nil, not TrueClass")
      end

      it "raises with 1007 for invalid DEFLATE, or if it ends within a block" do
        ["\xff\xff", "\xf2\x48\xcd"].each do |payload|
          expect { decoder_with(agreement).feed(frame(:binary, payload.b, rsv1: true)) { nil } }
            .to raise_error(an_instance_of(WsUnmask::InvalidPayloadError)
                              .and(have_attributes(code: 1007)))
        end
      end

      it "raises with 1007 at the first invalid byte of text, before the rest of the message" do
        bytes = compressed(:text, "caf\xe9 ".b + Random.bytes(10_000))
        decoder = decoder_with(agreement)
        fed = 0
        expect { bytes.each_char { |byte| decoder.feed(byte) and fed += 1 } }
          .to raise_error(an_instance_of(WsUnmask::InvalidPayloadError)
                            .and(have_attributes(code: 1007)))
        expect(fed).to be < 2000
        whole = compressed(:text, "\xe9", peer: ZlibPeer.new)
        expect { decoder_with(agreement).feed(whole) { nil } }
          .to raise_error(WsUnmask::InvalidPayloadError)
        unchecked = decoder_with(agreement, validate_utf8: false)
        expect(unchecked.feed(whole)).to eq [[:text, "\xe9"]]
      end

      it "limits the plain bytes" do
        exactly = compressed(:binary, "x" * 1000)
        expect(decoder_with(agreement, max_message_size: 1000).feed(exactly))
          .to eq [[:binary, "x" * 1000]]
        expect { decoder_with(agreement, max_message_size: 999).feed(exactly) }
          .to raise_error(an_instance_of(WsUnmask::MessageTooBigError)
                            .and(have_attributes(
                                   code: 1009,
                                   message: "message of 1000 bytes or more is over the limit of 999"
                                 )))
      end

      Bomb::WAYS.each_key do |way|
        it "stops inflating a bomb at the limit #{way}: 1009, with less than 1 MiB more memory" do
          over, fed = explode(way, <<~AGREEMENT, <<~CONNECTION)
            agreement = WsUnmask::Deflate.new.accept("permessage-deflate")
          AGREEMENT
            decoder = WsUnmask::Decoder.new(deflate: agreement, max_message_size: LIMIT)
            lambda do |bytes|
              decoder.feed(bytes) { raise "a message" }
            rescue WsUnmask::MessageTooBigError => error
              throw :refused if error.code == 1009
            end
          CONNECTION
          expect(over).to be < 1 << 20
          expect(fed).to be < 20_000 unless way == "in one frame"
        end
      end

      it "reports its memory to ObjectSpace and to the garbage collector while it holds it" do
        decoder = decoder_with(agreement)
        empty = ObjectSpace.memsize_of(decoder)
        decoder.feed(compressed(:text, "Hello"))
        expect(ObjectSpace.memsize_of(decoder) - empty).to be_between(40_000, 64_000)
        no_takeover = WsUnmask::Deflate.new(client_no_context_takeover: true)
                                       .accept("permessage-deflate")
        decoder = decoder_with(no_takeover)
        3.times { decoder.feed(compressed(:text, "Hello", peer: ZlibPeer.new)) }
        expect(ObjectSpace.memsize_of(decoder)).to be_within(2048).of(empty)
      end

      it "lets Ruby collect decoders that are no longer referenced" do
        expect(in_child(<<~RUBY).to_i).to be > 5
          agreement = WsUnmask::Deflate.new.accept("permessage-deflate")
          hello = ["c18700000000f248cdc9c90700"].pack("H*")
          before = GC.count
          20_000.times { WsUnmask::Decoder.new(deflate: agreement).feed(hello) }
          puts GC.count - before
        RUBY
      end

      it "returns the same while every allocation collects garbage" do
        stream = cut(compressed(:text, "grüß " * 5000) + compressed(:binary, "x" * 50))
        decoder = decoder_with(agreement)
        GC.stress = true
        got = stream.flat_map { |piece| decoder.feed(piece) }
        GC.stress = false
        expect(got).to eq [[:text, "grüß " * 5000], [:binary, "x" * 50]]
      ensure
        GC.stress = false
      end

      it "stays failed if there is not enough memory for a message", :limited_memory do
        expect(in_child(<<~RUBY)).to eq "3 no_memory no_memory\n"
          require "zlib"
          deflate = Zlib::Deflate.new(9, -15)
          payload = deflate.deflate("\\0" * (100 << 20), Zlib::SYNC_FLUSH)[0...-4]
          deflate.close
          hello = ["c18700000000f248cdc9c90700"].pack("H*")
          agreement = WsUnmask::Deflate.new.accept("permessage-deflate")
          decoder = WsUnmask::Decoder.new(max_message_size: nil, deflate: agreement)
          GC.start
          size = File.read("/proc/self/statm").to_i * 4096
          Process.setrlimit(:AS, size + (60 << 20), Process::RLIM_INFINITY)
          got = []
          feed = lambda do |input|
            got << decoder.feed(input).size
          rescue NoMemoryError
            got << :no_memory
          end
          feed.(hello * 3 + [0xc2, 0xff, payload.bytesize, 0, payload].pack("CCQ>Na*"))
          feed.("") if got.size == 1
          feed.(hello)
          puts got.join(" ")
        RUBY
      end
    end

    context "with a block that leaves early" do
      let(:stream) { %w[one two three].map { |text| frame(:text, text) }.join }

      it "loses nothing if it raises" do
        got = []
        expect { decoder.feed(stream) { |_, text| got << text and raise "no" } }
          .to raise_error("no")
        decoder.feed(frame(:text, "four")) { |_, text| got << text }
        expect(got).to eq %w[one two three four]
      end

      it "loses nothing if it breaks or throws" do
        got = []
        decoder.feed(stream) { |_, text| got << text and break }
        catch(:out) { decoder.feed("") { |_, text| got << text and throw :out } }
        expect(decoder.feed("")).to eq [[:text, "three"]]
        expect(got).to eq %w[one two]
      end

      it "loses nothing if its thread is killed" do
        thread = Thread.new { decoder.feed(stream) { Thread.current.kill } }
        thread.join
        expect(decoder.feed("").map(&:last)).to eq %w[two three]
      end

      it "raises a protocol violation that it has not seen yet, at the next call" do
        decoder.feed(stream + "\xff".b) { break }
        got = []
        expect { decoder.feed("") { |_, text| got << text } }
          .to raise_error(WsUnmask::ProtocolError)
        expect(got).to eq %w[two three]
      end

      it "keeps only undelivered messages" do
        message = frame(:text, "x" * 1000)
        one = ->(bytes) { decoder.feed(bytes) { break } }
        one.call(message * 2)
        many(5000).times { one.call(message) }
        expect(ObjectSpace.memsize_of(decoder)).to be < 4096
        expect(decoder.feed("").size).to eq 1
      end
    end

    context "with a block that does something to the decoder or the bytes" do
      let(:stream) { %w[one two three].map { |text| frame(:text, text) }.join }

      it "refuses to be fed by it" do
        expect { decoder.feed(stream) { decoder.feed(hello) } }
          .to raise_error(RuntimeError, /being fed already/)
        expect(decoder.feed("").map(&:last)).to eq %w[two three]
      end

      it "is not affected if the block changes the bytes" do
        [lambda(&:clear), ->(bytes) { bytes.replace("\xff" * 500) },
         ->(bytes) { bytes << ("x" * 100_000) },
         ->(bytes) { bytes.setbyte(12, 0xff) }].each do |change|
          bytes = stream.dup
          got = []
          described_class.new.feed(bytes) { |_, text| change.call(bytes) and got << text }
          expect(got).to eq %w[one two three]
        end
      end

      it "survives a continuation that returns into the block" do
        expect(in_child(<<~'RUBY', "-W0")).to eq "[1, 2, 3] 1\n"
          require "continuation"
          decoder = WsUnmask::Decoder.new
          hello = ["818537fa213d7f9f4d5158"].pack("H*")
          runs = []
          decoder.feed(hello) { callcc { |it| $again = it } && runs << runs.size + 1 }
          $again.call(true) if runs.size < 3
          puts "#{runs} #{decoder.feed(hello).size}"
        RUBY
      end

      it "keeps undelivered messages through garbage collection and compaction" do
        texts = Array.new(many(300)) { |i| "message #{i} #{"x" * (i % 50)}" }
        decoder.feed(texts.map { |text| frame(:text, text) }.join) { break }
        GC.start
        GC.compact if GC.respond_to?(:compact)
        expect(decoder.feed("").map(&:last)).to eq texts.drop(1)
      end
    end

    context "without memory" do
      # Memory for 60 MiB, of which the message wants 100.
      let(:script) { <<~RUBY }
        def frame(payload) = [0x82, 0xff, payload.bytesize, 0, payload].pack("CCQ>Na*")
        small = frame("x" * 70_000)
        # In pieces, since garbage of that size would be available as memory.
        bytes = String.new(capacity: 101 << 20, encoding: "BINARY") << small << small
        bytes << [0x82, 0xff, 100 << 20, 0].pack("CCQ>N")
        piece = "y" * (1 << 20)
        100.times { bytes << piece }
        bytes << small
        GC.start
        size = File.read("/proc/self/statm").to_i * 4096
        Process.setrlimit(:AS, size + (60 << 20), Process::RLIM_INFINITY)
        decoder = WsUnmask::Decoder.new(max_message_size: nil)
        got = []
        feed = lambda do |input|
          got.concat(%<call>s)
          got << :ok
        rescue NoMemoryError
          got << :no_memory
        end
        feed.(bytes); feed.(""); feed.(small)
        Process.setrlimit(:AS, Process::RLIM_INFINITY, Process::RLIM_INFINITY)
        feed.(small)
        puts got.map { |it| it.is_a?(Array) ? it[1].bytesize : it }.join(" ")
      RUBY

      # 100 MiB are not available, and the rest of the payload must not be decoded as frames.
      it "delivers the messages before, and stays failed", :limited_memory do
        without = format(script, call: "decoder.feed(input)")
        expect(in_child(without)).to eq "70000 70000 ok no_memory no_memory no_memory\n"
        with = format(script, call: "[].tap { |all| decoder.feed(input) { |*it| got << it } }")
        expect(in_child(with)).to eq "70000 70000 no_memory no_memory no_memory no_memory\n"
      end

      it "keeps messages that cannot be returned" do
        expect(in_child(<<~'RUBY')).to eq "no memory\ntext\nno memory\nclose\n"
          $fails = true
          module Failing
            def initialize(*) = $fails ? raise(NoMemoryError) : super
          end
          WsUnmask::Close.prepend(Failing)
          decoder = WsUnmask::Decoder.new
          feed = lambda do |bytes, &block|
            decoder.feed(bytes, &block)
          rescue NoMemoryError
            puts "no memory"
          end
          feed.(["818537fa213d7f9f4d5158888061626364"].pack("H*"))
          feed.("") { |type,| puts type }
          $fails = false
          puts feed.("").map(&:first)
        RUBY
      end
    end

    it "works when objects are moved between the calls" do
      stream = frame(:text, "x" * 10_000, fin: false) + frame(:continuation, "y" * 10_000)
      messages = cut(stream).flat_map do |piece|
        GC.compact if GC.respond_to?(:compact)
        decoder.feed(piece)
      end
      expect(messages).to eq [[:text, ("x" * 10_000) + ("y" * 10_000)]]
    end
  end

  describe "#closed?" do
    it "is true once a close frame was delivered" do
      seen = []
      decoder.feed(hello + frame(:close) + hello) { |type,| seen << [type, decoder.closed?] }
      expect(seen).to eq [[:text, false], [:close, true]]
      expect(decoder).to be_closed
    end
  end

  describe "memory" do
    it "does not grow with what a header promises" do
      sizes = [[0xff, 2**62], [0xff, 60 << 20]].map do |second, length|
        decoder = described_class.new(max_message_size: nil)
        decoder.feed([0x82, second, length, "key!", "some bytes"].pack("CCQ>a4a*"))
        ObjectSpace.memsize_of(decoder)
      end
      expect(sizes).to all be < 1024
    end

    it "is small for ten thousand decoders with half a header" do
      decoders = Array.new(many(10_000)) do
        described_class.new.tap { |decoder| decoder.feed("\x81\xfe".b) }
      end
      expect(decoders.sum { |decoder| ObjectSpace.memsize_of(decoder) }).to be < decoders.size * 640
    end

    it "is freed once the messages of a read are delivered" do
      empty = ObjectSpace.memsize_of(decoder)
      decoder.feed(hello * many(100_000))
      expect(ObjectSpace.memsize_of(decoder)).to be_within(8 * 1024).of(empty)
      decoder.feed(hello * many(100_000)) { nil }
      expect(ObjectSpace.memsize_of(decoder)).to be_within(8 * 1024).of(empty)
    end

    it "does not grow after a protocol violation" do
      expect { decoder.feed("\x81\x00".b + ("x" * 1000)) }.to raise_error(WsUnmask::NotMaskedError)
      failed = ObjectSpace.memsize_of(decoder)
      100.times do
        expect { decoder.feed("x" * 10_000) }.to raise_error(WsUnmask::NotMaskedError)
      end
      expect(ObjectSpace.memsize_of(decoder)).to eq failed
      expect(failed).to be < 640
    end

    it "is what ObjectSpace says" do
      bytes = frame(:binary, "x" * 1_000_000)
      empty = ObjectSpace.memsize_of(decoder)
      decoder.feed(bytes.byteslice(0, 500_000))
      expect(ObjectSpace.memsize_of(decoder)).to be_between(500_000, 1_100_000)
      decoder.feed(bytes.byteslice(500_000..))
      expect(ObjectSpace.memsize_of(decoder)).to be_within(128).of(empty)
    end

    it "lets Ruby collect decoders that are no longer referenced" do
      runs, peak = in_child(<<~RUBY).split.map(&:to_i)
        piece = [0x82, 0xff, 16 << 20, "key!", "x" * (8 << 20)].pack("CCQ>a4a*")
        before = GC.count
        150.times { WsUnmask::Decoder.new.feed(piece) }
        puts GC.count - before, File.read("/proc/self/status")[/VmHWM:\\s+(\\d+)/, 1]
      RUBY
      expect(runs).to be > 5
      expect(peak).to be < 400 << 10
    end
  end
end
