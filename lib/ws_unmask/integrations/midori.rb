# frozen_string_literal: true

require "ws_unmask"
require_relative "midori/masks"
require_relative "midori/web_socket"

module WsUnmask
  # Lets the Midori framework decode with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/midori"
  module Midori
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:midori)) do |patches|
      socket = ::Midori::WebSocket
      patches.replace socket, WebSocket
      has_masks = Masks.protected_instance_methods.all? { |name| socket.method_defined?(name) }
      if has_masks
        patches.replace socket, Masks
        patches.leave_out socket, :mask, :mask_str
      end
    end

    private_constant :Masks, :WebSocket

    extend PatchSet::Switch
    install
  end
end
