# frozen_string_literal: true

RSpec.describe WsUnmask do
  let(:key) { "\x37\xfa\x21\x3d".b }
  let(:masked) { "\x7f\x9f\x4d\x51\x58".b }
  let(:lengths) { [*0..130, 255, 256, 257, 1000, 4096, 70_000] }

  it "unmasks the example of RFC 6455, section 5.7" do
    expect(described_class.unmask(masked, key)).to eq "Hello"
  end

  it "names the SIMD level of this machine" do
    expect(%i[avx512 avx2 sse4_2 sse2 neon fallback]).to include described_class.simd_level
  end

  describe ".unmask" do
    it "equals the reference for any length, key and offset" do
      lengths.each do |length|
        payload = Random.bytes(length)
        key = Random.bytes(4)
        offset = rand(2**62)
        expect(described_class.unmask(payload, key, offset))
          .to eq Xor.mask(payload, key, offset)
      end
    end

    it "returns a new ASCII-8BIT String and leaves the argument as it is" do
      payload = "grüß".dup.freeze
      result = described_class.unmask(payload, key)
      expect(result).not_to be payload
      expect(result.encoding).to be Encoding::ASCII_8BIT
      expect(result).not_to be_frozen
      expect(payload).to eq "grüß"
    end

    it "returns a String whose code range is unknown" do
      plain = described_class.unmask(described_class.mask("grüß", key), key)
      expect(plain).not_to be_ascii_only
      expect(plain.force_encoding("UTF-8")).to be_valid_encoding
    end

    it "accepts the key as four Integers" do
      expect(described_class.unmask(masked, key.bytes)).to eq "Hello"
    end

    it "unmasks piece by piece with the offset" do
      pieces = [masked[0, 1], masked[1, 3], masked[4, 1]]
      plain = pieces.zip([0, 1, 4]).map { |piece, at| described_class.unmask(piece, key, at) }
      expect(plain.join).to eq "Hello"
    end

    it "accepts offsets beyond a fixnum" do
      [2**62, (2**63) + 1, (2**64) - 1].each do |offset|
        expect(described_class.unmask(masked, key, offset))
          .to eq Xor.mask(masked, key, offset)
      end
    end

    it "takes instances of subclasses of String" do
      expect(described_class.unmask(Class.new(String).new(masked), key)).to eq "Hello"
    end

    it "works under GC.stress" do
      payload = Random.bytes(1000)
      expected = Xor.mask(payload, key)
      GC.stress = true
      results = Array.new(5) { described_class.unmask(payload, key) }
      GC.stress = false
      expect(results).to all eq expected
    ensure
      GC.stress = false
    end
  end

  describe ".unmask!" do
    it "equals the reference for any length, key and offset" do
      lengths.each do |length|
        payload = Random.bytes(length)
        key = Random.bytes(4)
        offset = rand(2**62)
        expected = Xor.mask(payload, key, offset)
        expect(described_class.unmask!(payload, key, offset)).to eq expected
      end
    end

    it "returns the payload itself, in its encoding" do
      payload = masked.dup.force_encoding("UTF-8")
      expect(described_class.unmask!(payload, key)).to be payload
      expect(payload).to eq "Hello"
      expect(payload.encoding).to be Encoding::UTF_8
    end

    it "resets the code range of the String" do
      payload = described_class.mask("grüß", key).force_encoding("UTF-8")
      expect(payload).not_to be_valid_encoding
      described_class.unmask!(payload, key)
      expect(payload).to be_valid_encoding
      described_class.mask!(payload, "\x80\x80\x80\x80".b)
      expect(payload).not_to be_valid_encoding
    end

    it "never changes another String that shares memory with it" do
      [30, 1000, 100_000].each do |length|
        original = Random.bytes(length)
        before = original.bytes
        [original.dup, original[10..], original.byteslice(0, length - 5),
         String.new(original)].each do |copy|
          expected = Xor.mask(copy, key)
          expect(described_class.unmask!(copy, key)).to eq expected
          expect(original.bytes).to eq before
        end
      end
    end

    it "never changes the duplicates of a String that it unmasks" do
      original = Random.bytes(100_000)
      copies = [original.dup, original[10..]]
      before = copies.map(&:bytes)
      described_class.unmask!(original, key)
      expect(copies.map(&:bytes)).to eq before
    end

    it "allocates no object" do
      payload = Random.bytes(1000)
      described_class.unmask!(payload, key)
      GC.disable
      before = GC.stat(:total_allocated_objects)
      100.times { described_class.unmask!(payload, key) }
      expect(GC.stat(:total_allocated_objects) - before).to be < 10
    ensure
      GC.enable
    end
  end

  describe ".mask and .mask!" do
    it "undo what unmask does" do
      payload = Random.bytes(300)
      expect(described_class.mask(described_class.unmask(payload, key, 7), key, 7)).to eq payload
      expect(described_class.mask!(described_class.unmask!(payload.dup, key), key)).to eq payload
    end
  end

  describe ".unmask_bytes" do
    it "unmasks an Array of Integers into another one" do
      bytes = masked.bytes.freeze
      expect(described_class.unmask_bytes(bytes, key)).to eq "Hello".bytes
      expect(described_class.unmask_bytes(bytes[2..], key.bytes, 2)).to eq "llo".bytes
      expect(described_class.unmask_bytes([], key)).to eq []
    end
  end

  describe "bad input" do
    methods = %i[unmask unmask! mask mask!]

    # Expects the error of every masking method, and the payload unchanged.
    def expect_refusal(error, message, *arguments, methods: %i[unmask unmask! mask mask!])
      before = Marshal.dump(arguments)
      methods.each do |method|
        expect { described_class.public_send(method, *arguments) }.to raise_error(error, message)
        expect(Marshal.dump(arguments)).to eq before
      end
    end

    it "refuses a key of another length" do
      ["", "abc", "abcde"].each do |wrong|
        expect_refusal(ArgumentError, "key must have 4 bytes, not #{wrong.bytesize}", +"x", wrong)
      end
      expect_refusal(ArgumentError, "key must have 4 bytes, not 8", +"x", "grün🌱"[0, 3] + "🌱"[0, 1])
      expect_refusal(ArgumentError, "key must have 4 Integers, not 3", +"x", [1, 2, 3])
    end

    it "refuses a key that is neither a String nor an Array" do
      expect_refusal(TypeError, /key must be a String of 4 bytes or an Array.*, not nil/, +"x", nil)
      expect_refusal(TypeError, /key must be .*, not Symbol/, +"x", :abcd)
    end

    it "refuses elements of a key that are not bytes" do
      expect_refusal(TypeError, "key[2] must be an Integer, not String", +"x", [1, 2, "3", 4])
      expect_refusal(TypeError, "key[0] must be an Integer, not Float", +"x", [1.0, 2, 3, 4])
      expect_refusal(RangeError, "key[3] is 256, which is not in 0..255", +"x", [1, 2, 3, 256])
      expect_refusal(RangeError, "key[0] is -1, which is not in 0..255", +"x", [-1, 2, 3, 4])
      expect_refusal(RangeError, "key[0] is #{2**100}, which is not in 0..255", +"x",
                     [2**100, 2, 3, 4])
    end

    it "refuses an offset that is negative or larger than any payload" do
      [-1, -(2**62), -(2**100)].each do |offset|
        expect_refusal(ArgumentError, "offset must not be negative, but is #{offset}",
                       +"x", "abcd", offset)
      end
      expect_refusal(RangeError, /offset 18446744073709551616 is over/, +"x", "abcd", 2**64)
      expect_refusal(TypeError, "offset must be an Integer, not Float", +"x", "abcd", 1.5)
      expect_refusal(TypeError, "offset must be an Integer, not nil", +"x", "abcd", nil)
    end

    it "refuses a payload that is not a String" do
      expect_refusal(TypeError, "payload must be a String, not nil", nil, "abcd")
      expect_refusal(TypeError, "payload must be a String, not Array", [1], "abcd")
    end

    it "refuses to write into a frozen String" do
      frozen = "Hello".b.freeze
      expect_refusal(FrozenError, /can't modify frozen String/, frozen, key,
                     methods: %i[unmask! mask!])
    end

    it "refuses to write into a String that an IO is reading into" do
      reader, writer = IO.pipe
      buffer = +""
      thread = Thread.new { reader.readpartial(100_000, buffer) }
      Thread.pass until thread.stop? # it is waiting in the read now
      expect { described_class.unmask!(buffer, key) }.to raise_error(RuntimeError, /locked/)
      writer.write("x")
      thread.join
    ensure
      [reader, writer].each { |io| io&.close }
    end

    it "refuses elements of an Array payload that are not bytes" do
      refusals = { nil => TypeError, "x" => TypeError, 256 => RangeError, -1 => RangeError }
      refusals.each do |element, error|
        expect { described_class.unmask_bytes([1, element], key) }
          .to raise_error(error, /payload\[1\]/)
      end
      expect { described_class.unmask_bytes("abc", key) }
        .to raise_error(TypeError, "payload must be an Array of Integers, not String")
    end

    it "refuses another number of arguments" do
      (methods + [:unmask_bytes]).each do |method|
        expect { described_class.public_send(method, "x") }
          .to raise_error(ArgumentError, "wrong number of arguments (given 1, expected 2..3)")
        expect { described_class.public_send(method, "x", key, 0, 0) }
          .to raise_error(ArgumentError, "wrong number of arguments (given 4, expected 2..3)")
      end
    end
  end
end
