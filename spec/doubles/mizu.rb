# frozen_string_literal: true

# Replaces the HTTP parser that Midori requires, which Debian does not package.
module Mizu; end
