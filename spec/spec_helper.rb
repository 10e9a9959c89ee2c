# frozen_string_literal: true

require "timeout"
require "ws_unmask"
require_relative "../examples/xor"
require_relative "support/extra_gems"
require_relative "support/gc_stress"
require_relative "support/tested"

# Another version than the Gemfile's.
if ENV.key?("WEBSOCKET_DRIVER")
  version = ENV.fetch("WEBSOCKET_DRIVER")
  ExtraGems.activate("websocket-driver", version) or
    abort "websocket-driver #{version} is not installed, and not in ../shared/ruby/gems"
end

RSpec.configure do |config|
  config.include GcStress
  config.disable_monkey_patching!
  config.expect_with(:rspec) { |expectations| expectations.max_formatted_output_length = 300 }
  config.order = :random
  Kernel.srand(config.seed)
  # A server that does not respond fails its example, and does not block the others. In an emulator
  # (LESS_TRAFFIC) all takes longer.
  seconds = 300 * Integer(ENV.fetch("LESS_TRAFFIC", 1))
  config.around { |example| Timeout.timeout(seconds) { example.run } }
  if ENV.key?("WS_UNMASK_TESTED")
    config.after(:suite) do
      Tested.record(ENV.fetch("WS_UNMASK_TESTED"), RSpec.world.filtered_examples.values.flatten)
    end
  end
  if GcStress.wanted?
    random = Random.new(config.seed)
    config.around { |example| GcStress.within_the_extension(random) { example.run } }
  end
end
