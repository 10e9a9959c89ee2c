# frozen_string_literal: true

# Required before a drop-in: says at the end that it was there until then. A comparison would say
# nothing otherwise.
at_exit { puts "ws_unmask: #{WsUnmask.installed.inspect}" }
