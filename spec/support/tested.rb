# frozen_string_literal: true

require "fileutils"
require "json"

# Records the versions that the whole suite ran with, for `rake tested`.
module Tested
  GEMS = %w[websocket-driver protocol-websocket websocket em-websocket faye-websocket actioncable
            async-websocket puma].freeze
  private_constant :GEMS

  # @param folder [String]
  # @param examples [Array<RSpec::Core::Example>] all that ran
  def self.record(folder, examples)
    return if examples.any? { |example| example.execution_result.status == :failed }

    jit = "YJIT" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?
    cpu = RUBY_PLATFORM[/\A[^-]+/]
    facts = { ruby: RUBY_VERSION, jit:, cpu:, system: RUBY_PLATFORM.delete_prefix("#{cpu}-"),
              examples: examples.size,
              gems: GEMS.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s] }.compact }
    FileUtils.mkdir_p(folder)
    File.write("#{folder}/#{[RUBY_VERSION, jit, cpu].compact.join("-")}.json", facts.to_json)
  end
end
