# frozen_string_literal: true

# In the place of the HTTP parser that Midori requires, which nobody packages.
module Mizu; end
