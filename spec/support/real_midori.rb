# frozen_string_literal: true

require_relative "extra_gems"

# The real Midori, with doubles for the gems that it requires but does not need for decoding.
module RealMidori
  # @return [Boolean] whether it is there
  def self.activate
    doubles = File.expand_path("../doubles", __dir__)
    $LOAD_PATH.push(doubles) unless $LOAD_PATH.include?(doubles)
    %w[evt midori.rb].all? { |name| ExtraGems.activate(name) }
  end
end
