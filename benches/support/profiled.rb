# frozen_string_literal: true

# Required before a script (ruby -r): samples it, and writes the profile to the file PROFILE.
require "stackprof"

StackProf.start(mode: :cpu, interval: 500, raw: true)
at_exit do
  StackProf.stop
  StackProf.results(ENV.fetch("PROFILE"))
end
