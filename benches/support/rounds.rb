# frozen_string_literal: true

# Measures several ways to do the same work, in rounds of one way after the other, so that all of
# them meet the same conditions. The median of the rounds counts.
module Rounds
  ROUNDS = 9
  SECONDS = 0.02
  private_constant :ROUNDS, :SECONDS

  # Makes a loop around a call; calling a block would add to the measurement.
  # @param call [String] Ruby code, which sees the locals of +scope+
  def self.loop_around(call, scope)
    eval "->(calls) { i = 0; while i < calls; #{call}; i += 1; end }", scope, __FILE__, __LINE__
  end

  # @param ways [Hash{Symbol => Proc}] each is called with the number of calls that it is to make
  # @return [Hash{Symbol => Float}] median nanoseconds a call
  def self.medians(ways)
    counts = ways.transform_values { |way| calls_in(SECONDS, way) }
    rounds = Array.new(ROUNDS) { ways.to_h { |name, way| [name, time(way, counts[name])] } }
    ways.to_h { |name, _| [name, rounds.map { |round| round[name] }.sort[ROUNDS / 2]] }
  end

  def self.calls_in(seconds, way)
    calls = 1
    calls *= 2 while time(way, calls) * calls < seconds * 1e9
    calls
  end

  def self.time(way, calls)
    GC.start
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    way.call(calls)
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1e9 / calls
  end

  private_class_method :calls_in, :time
end
