# frozen_string_literal: true

require "ws_unmask"
require_relative "midori/web_socket"

module WsUnmask
  # Lets the Midori framework decode with {WsUnmask}.
  #
  # Two things change besides speed: the bytes of a binary frame are 0 to 255, where Midori returns
  # negative numbers above 127; and payloads may be longer than 125 bytes.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/midori"
  module Midori
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:midori)) do |patches|
      socket = ::Midori::WebSocket
      if socket.instance_method(:decode).source_location
        raise PatchSet::Refused, "#{socket}#decode is not the C method of Midori 0.8 and later"
      end

      patches.replace socket, WebSocket
    end

    private_constant :WebSocket

    extend PatchSet::Switch
    install
  end
end
