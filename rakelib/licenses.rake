# frozen_string_literal: true

require_relative "third_party"

desc "Writes LICENSE-THIRD-PARTY: what is in a precompiled gem besides our own code"
task :licenses do
  File.write(ThirdParty::FILE, ThirdParty.text)
end
