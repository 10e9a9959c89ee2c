# frozen_string_literal: true

# With GC_STRESS=1, every allocation within a method of the extension, and within the blocks that
# it calls, collects garbage. RSpec's own allocations do not: there are thousands for each of ours.
#
# Most calls collect young objects only, which are those that Rust code could lose. One call in ten,
# at random, collects all and compacts, if Ruby can: that takes a hundred times as long.
module GcStress
  YOUNG_OBJECTS_ONLY = 1
  ALL_OBJECTS = true

  # Whether a class, or a singleton class, is one of the extension's.
  OURS = Hash.new { |known, it| known[it] = it.inspect.match?(/\A(#<Class:)?WsUnmask\b/) }
             .compare_by_identity

  private_constant :YOUNG_OBJECTS_ONLY, :ALL_OBJECTS, :OURS

  def self.wanted? = ENV.key?("GC_STRESS")

  # Runs the block with stress on wherever a method of the extension is running.
  # @param random [Random]
  def self.within_the_extension(random, &)
    depth = 0
    trace = TracePoint.new(:c_call, :c_return) do |event|
      next unless OURS[event.defined_class]

      depth += event.event == :c_call ? 1 : -1
      set(level(random)) if depth == 1
      set(false) if depth.zero?
    end
    trace.enable(&)
  ensure
    set(false)
  end

  # The number of repetitions: fewer under stress.
  # @example
  #   many(10_000).times { ... }
  def many(times) = GcStress.wanted? ? [times, 100].min : times

  def self.level(random)
    random.rand(10).zero? ? ALL_OBJECTS : YOUNG_OBJECTS_ONLY
  end

  def self.set(level)
    GC.auto_compact = level == ALL_OBJECTS if GC.respond_to?(:auto_compact=)
    GC.stress = level
  end

  private_class_method :level, :set
end
