# frozen_string_literal: true

# Required before a script (ruby -r): samples it, and writes what was seen to the file that PROFILE
# names.
require "stackprof"

StackProf.start(mode: :cpu, interval: 500, raw: true)
at_exit do
  StackProf.stop
  StackProf.results(ENV.fetch("PROFILE"))
end
