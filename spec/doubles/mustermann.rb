# frozen_string_literal: true

# In the place of what Midori matches routes with.
module Mustermann; end
