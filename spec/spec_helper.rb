# frozen_string_literal: true

require "timeout"
require "ws_unmask"
require_relative "support/gc_stress"

# The oracle: RFC 6455, section 5.3 as one line, and nothing from the library.
module Reference
  def reference_unmask(payload, key, offset = 0)
    payload.bytes.each_with_index.map { |byte, i| byte ^ key.getbyte((offset + i) % 4) }.pack("C*")
  end
end

RSpec.configure do |config|
  config.include Reference
  config.include GcStress
  config.disable_monkey_patching!
  config.expect_with(:rspec) { |expectations| expectations.max_formatted_output_length = 300 }
  config.order = :random
  Kernel.srand(config.seed)
  # A server that does not answer fails its example, and holds up nothing.
  config.around { |example| Timeout.timeout(300) { example.run } }
  if GcStress.wanted?
    random = Random.new(config.seed)
    config.around { |example| GcStress.within_the_extension(random) { example.run } }
  end
end
