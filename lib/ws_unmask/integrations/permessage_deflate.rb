# frozen_string_literal: true

require "ws_unmask/websocket_driver"
require_relative "permessage_deflate/extension"
require_relative "permessage_deflate/session"

module WsUnmask
  # Lets the sessions of the gem permessage_deflate inflate and deflate with {WsUnmask}, no further
  # than websocket-driver's +max_length+: over it, the driver closes with 1009.
  #
  # Nothing else changes: neither what is negotiated, nor which messages are compressed. A message
  # that ends within a block is an error now, as other messages that are not DEFLATE. It holds for
  # connections that are opened afterwards.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/permessage_deflate"
  module PermessageDeflate
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:permessage_deflate)) do |patches|
      patches.replace ::PermessageDeflate::Extension, Extension
      patches.leave_out ::PermessageDeflate::Session, :process_incoming_message,
                        :process_outgoing_message, :close, :free, :get_inflate, :get_deflate
    end

    private_constant :Extension, :Session

    extend PatchSet::Switch
    install
  end
end
