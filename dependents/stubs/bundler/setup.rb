# frozen_string_literal: true

# Instead of Bundler's: the suites run with the gems that are here, not those of their Gemfiles.
