# frozen_string_literal: true

# Replaces Bundler's: the suites run with the gems installed here, not those of their Gemfiles.
