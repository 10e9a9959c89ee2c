# frozen_string_literal: true

require_relative "third_party"

desc "Write LICENSE-THIRD-PARTY, the licenses of the crates in precompiled gems"
task :licenses do
  File.write(ThirdParty::FILE, ThirdParty.text)
end
