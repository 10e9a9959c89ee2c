# frozen_string_literal: true

RSpec.shared_context "with and without" do |drop_in|
  after { drop_in.install }

  # What the block returns with the drop-in and without it, exceptions included.
  define_method(:both) do |&block|
    %i[install uninstall].map do |state|
      drop_in.public_send(state)
      block.call
    rescue StandardError => e
      [e.class, e.message]
    end
  end
end
