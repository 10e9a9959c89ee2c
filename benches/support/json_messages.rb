# frozen_string_literal: true

# Varied JSON messages, as in a chat. If the same message were repeated, it would compress to little
# more than a reference to the previous one.
module JsonMessages
  WORDS = %w[the of and to in is you that it was for on are with they at be this have from one had
             by what all were when your can said there each].freeze
  private_constant :WORDS

  # @param size [Integer] of each message, in bytes
  # @return [Array<String>] more of them than the largest window holds
  def self.of(size)
    random = Random.new(7692)
    Array.new([(256 << 10) / size, 3].max) { message(size, random) }
  end

  def self.message(size, random)
    text = +""
    while text.bytesize < size
      text << %({"id":#{random.rand(10_000_000)},"user":"user#{random.rand(500)}",) <<
        %("at":"12:#{random.rand(10..59)}","text":") <<
        Array.new(random.rand(4..15)) { WORDS.sample(random:) }.join(" ") << %("})
    end
    text.byteslice(0, size)
  end

  private_class_method :message
end
