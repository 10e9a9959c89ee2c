# frozen_string_literal: true

require "open3"
require "rbconfig"

# Runs Ruby in a separate process, for code that would harm this one, or be masked by it.
module Child
  LIB = File.expand_path("../../lib", __dir__)
  private_constant :LIB

  # @param script [String] Ruby code, with ws_unmask required
  # @return [String] what it printed
  def in_child(script, *options, env: {})
    output, status = Open3.capture2e(env, RbConfig.ruby, *options, "-I#{LIB}", "-rws_unmask",
                                     "-e", script)
    raise "the child has failed (#{status}):\n#{output}" unless status.success?

    output
  end
end
