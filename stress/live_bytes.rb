# frozen_string_literal: true

require "fiddle"
require "tempfile"

# The bytes that this process uses: Ruby's live objects, and malloc's allocated memory. Resident
# memory would include what allocators keep for later, which varies by megabytes.
module LiveBytes
  LIBC = Fiddle.dlopen(nil)
  POINTER = Fiddle::TYPE_VOIDP
  FOPEN = Fiddle::Function.new(LIBC["fopen"], [POINTER, POINTER], POINTER)
  FCLOSE = Fiddle::Function.new(LIBC["fclose"], [POINTER], Fiddle::TYPE_INT)
  MALLOC_INFO = Fiddle::Function.new(LIBC["malloc_info"], [Fiddle::TYPE_INT, POINTER],
                                     Fiddle::TYPE_INT)

  private_constant :LIBC, :POINTER, :FOPEN, :FCLOSE, :MALLOC_INFO

  # @return [Integer]
  def self.count
    GC.start
    objects = GC.stat(:heap_live_slots) * GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE, 40)
    objects + malloced
  end

  # From glibc's statistics, whose last lines are the sums over all arenas.
  def self.malloced
    totals = malloc_info.split("</heap>").last
    size = ->(element) { totals[/<#{element}[^>]* size="(\d+)"/, 1].to_i }
    size['system type="current"'] + size['total type="mmap"'] -
      size['total type="fast"'] - size['total type="rest"']
  end

  def self.malloc_info
    Tempfile.create("malloc_info") do |file|
      stream = FOPEN.call(file.path, "w")
      MALLOC_INFO.call(0, stream)
      FCLOSE.call(stream)
      file.read
    end
  end

  private_class_method :malloced, :malloc_info
end
