# frozen_string_literal: true

require_relative "../../examples/client"

# Frames of a client, made without ws_unmask.
module Frames
  def frame(type, payload = "", **options)
    Client.frame(type, payload.b, **options)
  end

  def hello
    ["818537fa213d7f9f4d5158"].pack("H*") # RFC 6455, section 5.7
  end

  # `bytes` in pieces of random sizes.
  def cut(bytes, random: Random.new)
    pieces = []
    at = 0
    while at < bytes.bytesize
      size = [1, random.rand(1..20), random.rand(1..2000)].sample(random:)
      pieces << bytes.byteslice(at, size)
      at += size
    end
    pieces
  end
end
