# frozen_string_literal: true

# The gem permessage_deflate, also where it is installed but not in the Gemfile.
module PermessageDeflateGem
  # @return [Boolean] whether it is here
  def self.load
    folders = Gem.path.map { |path| "#{path}/gems/permessage_deflate-*/lib" }
    $LOAD_PATH.concat(Dir[*folders].last(1))
    require "permessage_deflate"
    true
  rescue LoadError
    false
  end
end
