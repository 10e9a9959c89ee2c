# frozen_string_literal: true

require "zlib"
require_relative "frames"

# Random frames, valid and invalid.
module Traffic
  include Frames

  OPCODES = [0, 1, 2, 3, 7, 8, 9, 10, 11].freeze
  PAYLOADS = [
    ->(_) { "" }, ->(_) { "Hello" }, ->(_) { "grüß dich" }, ->(_) { "\xff\xfe" },
    ->(random) { random.bytes(random.rand(0..130)) },
    ->(random) { "x" * random.rand(120..130) },
    ->(random) { "ü" * random.rand(0..700) },
    ->(random) { "y" * random.rand(65_500..65_600) }
  ].freeze

  def random_frames(random, masked: true, deflate: false)
    Array.new(random.rand(1..12)) { random_frame(random, masked:, deflate:) }
  end

  # Valid most of the time, so that the frames after it are read, too.
  def random_frame(random, masked:, deflate:)
    case random.rand(10)
    when 0 then raw(random, OPCODES.sample(random:), masked: masked ^ random.rand(8).zero?)
    when 1 then whole(random, random.rand(9..10), masked:, payload: "p" * random.rand(0..125))
    when 2, 3 then fragments(random, masked:)
    when 4, 5 then deflate ? compressed(random, masked:) : whole(random, 1, masked:)
    else whole(random, random.rand(1..2), masked:)
    end
  end

  def whole(random, opcode, masked:, **options)
    raw(random, opcode, masked:, flags: 8, **options)
  end

  def fragments(random, masked:)
    text = "fragments: grüß " * random.rand(1..40)
    pieces = cut(text.b, random:)
    pieces.each_with_index.map do |piece, i|
      raw(random, i.zero? ? 1 : 0, masked:, payload: piece, flags: i == pieces.size - 1 ? 8 : 0)
    end.join
  end

  def compressed(random, masked:)
    payload = deflated("deflate me " * random.rand(0..50))
    raw(random, 1, masked:, payload:, flags: random.rand(10).zero? ? 8 : 12)
  end

  # As permessage-deflate (RFC 7692) has it, without context takeover.
  def deflated(data)
    Zlib::Deflate.new(nil, -15).deflate(data, Zlib::SYNC_FLUSH).delete_suffix("\x00\x00\xff\xff".b)
  end

  # Any frame, valid or invalid; the flags are FIN and the reserved bits.
  def raw(random, opcode, masked:, flags: random.rand(16), payload: some_payload(random))
    header = [(flags << 4) | opcode].pack("C") << length(random, payload.bytesize, masked ? 128 : 0)
    return header << payload.b unless masked

    key = random.bytes(4)
    header << key << Client.mask(payload.b, key)
  end

  def some_payload(random)
    PAYLOADS.sample(random:).call(random)
  end

  # Sometimes in more bytes than needed, which the driver accepts.
  def length(random, length, mask_bit)
    forms = []
    forms << [mask_bit | length].pack("C") if length < 126
    forms << [mask_bit | 126, length].pack("Cn") if length < 65_536
    forms << [mask_bit | 127, length].pack("CQ>")
    random.rand(30).zero? ? forms.last : forms.first
  end
end
