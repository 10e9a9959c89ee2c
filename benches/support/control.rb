# frozen_string_literal: true

require_relative "rounds"

# Tells whether the machine is quiet enough to measure: the same work is measured again and again,
# between the benchmarks. Whatever its times differ by is the machine's noise.
class Control
  # In percent of the median. A quiet machine stays below 3.
  LIMIT = 10

  def initialize
    @times = []
    @payload = "x" * (1 << 20)
  end

  # Measures once more, in half a second: over a String that is too large for the
  # first caches.
  def measure
    work = ->(calls) { calls.times { @payload.tr("x", "y").sum } }
    @times << Rounds.medians(work:)[:work]
  end

  # @return [Float] how far the times lie apart, in percent of their median
  def noise
    (@times.max - @times.min) * 100 / @times.sort[@times.size / 2]
  end

  # @return [Boolean]
  def quiet? = noise <= LIMIT
end
