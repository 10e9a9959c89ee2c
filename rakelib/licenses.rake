# frozen_string_literal: true

require_relative "third_party"

desc "Writes LICENSE-THIRD-PARTY: the licenses of what a precompiled gem contains"
task :licenses do
  File.write(ThirdParty::FILE, ThirdParty.text)
end
