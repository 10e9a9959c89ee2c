# frozen_string_literal: true

# Compression for Action Cable, as an initializer of a Rails app would turn it on. Browsers offer it
# on every connection.
module CompressedCable
  # A window of 4 KiB and the fastest level: see guides/compression.md for what that costs.
  DEFLATE = WsUnmask::WebSocketDriver::Deflate.new(server_max_window_bits: 12, level: 1)

  def initialize(...)
    super
    @driver.add_extension(DEFLATE)
  end
end
ActionCable::Connection::ClientSocket.prepend(CompressedCable)
