# frozen_string_literal: true

require "tempfile"
require "zlib"
require_relative "child"

# A bomb: 128 MiB of zeros in 130 KB.
module Bomb
  include Child

  # The code of each way to send it, by `feed`.
  WAYS = {
    "in one frame" => "feed.([0xc2, 0xff, bomb.bytesize, 0, bomb].pack('CCQ>Na*'))",
    "in a thousand fragments" => <<~RUBY,
      pieces = bomb.scan(/.{1,131}/mn)
      pieces.each_with_index do |piece, index|
        first = (index.zero? ? 0x42 : 0) | (index == pieces.size - 1 ? 0x80 : 0)
        feed.([first, 0xfe, piece.bytesize, 0, piece].pack("CCnNa*"))
      end
    RUBY
    "one byte a read" => <<~RUBY
      frame = [0xc2, 0xff, bomb.bytesize, 0, bomb].pack("CCQ>Na*")
      frame.each_byte { |byte| feed.(byte.chr) }
    RUBY
  }.freeze

  def self.bytes
    @bytes ||= begin
      zeros = "\0" * (1 << 20)
      deflate = Zlib::Deflate.new(9, -15)
      [*Array.new(128) { deflate.deflate(zeros) }, deflate.flush[0...-4]].join
    end
  end

  # @param way [String] of {WAYS}
  # @param preparation [String] code
  # @param connection [String] code of a connection that accepts LIMIT bytes, and returns what takes
  #   bytes; it throws :refused once it has closed with 1009
  # @return [Array<Integer>] the peak of memory over the limit, and how many bytes were fed
  def explode(way, preparation, connection)
    file = bomb
    in_child(<<~RUBY, env: { "BOMB" => file.path }).split.map(&:to_i)
      bomb = File.binread(ENV.fetch("BOMB"))
      LIMIT = 16 << 20
      memory = ->(name) { File.read("/proc/self/status")[/\#{name}:\\s+(\\d+)/, 1].to_i << 10 }
      #{preparation}
      # The first one brings in code and tables, which are not the message's.
      over, fed = Array.new(2) do
        take = begin
          #{connection}
        end
        fed = 0
        feed = ->(bytes) { fed += bytes.bytesize and take.(bytes) }
        GC.start
        File.write("/proc/self/clear_refs", "5") # the peak counts from here
        before = memory.("VmRSS")
        catch(:refused) do
          #{WAYS.fetch(way)}
          raise "it was not refused"
        end
        [memory.("VmHWM") - before - LIMIT, fed]
      end.last
      puts over, fed
    RUBY
  ensure
    file.unlink
  end

  private

  # In a file, since compressing would fragment the memory of the measured process.
  def bomb
    Tempfile.new.tap do |file|
      file.binmode.write(Bomb.bytes)
      file.close
    end
  end
end
