# frozen_string_literal: true

require_relative "rounds"

# Tells whether the machine was quiet during a benchmark: the same work is timed twice before it and
# twice after it. Any difference between those times is the machine's noise.
class Control
  # In percent of the median. On a quiet machine it is below 3.
  LIMIT = 10

  def initialize
    @payload = "x" * (1 << 20)
  end

  # @yield the benchmark
  # @return [Array] what the block returns, and by how much the times differ, in percent
  def around
    times = Array.new(2) { time }
    result = yield
    times.concat(Array.new(2) { time }).sort!
    [result, (times.last - times.first) * 100 / times[1]]
  end

  private

  # Takes half a second, with a String that is too large for the L1 cache.
  def time
    work = ->(calls) { calls.times { @payload.tr("x", "y").sum } }
    Rounds.medians(work:)[:work]
  end
end
