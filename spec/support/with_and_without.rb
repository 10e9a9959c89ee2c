# frozen_string_literal: true

RSpec.shared_context "with and without" do |integration|
  after { integration.install }

  # The block's results with and without the integration, exceptions included.
  define_method(:both) do |&block|
    %i[install uninstall].map do |state|
      integration.public_send(state)
      block.call
    rescue StandardError => e
      [e.class, e.message]
    end
  end

  # The same random work, again and again, with the integration and without it.
  # @yieldparam random [Random] the same one for both
  # @yieldreturn [Array] what was observed
  define_method(:expect_no_difference) do |times: 200, &work|
    # In an emulator, a masking loop in Ruby takes a hundred times as long.
    (times / Integer(ENV.fetch("LESS_TRAFFIC", 1))).clamp(1..).times do
      seed = Random.new_seed % 1_000_000
      ours, theirs = both { work.call(Random.new(seed)) }
      first = (0..[ours.size, theirs.size].max).find { |i| ours[i] != theirs[i] }
      difference = -> { "seed #{seed}: #{ours[first].inspect}, not #{theirs[first].inspect}" }
      expect(ours).to eq(theirs), difference
    end
  end
end
