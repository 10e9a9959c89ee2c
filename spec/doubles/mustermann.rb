# frozen_string_literal: true

# Replaces the gem that Midori matches routes with.
module Mustermann; end
