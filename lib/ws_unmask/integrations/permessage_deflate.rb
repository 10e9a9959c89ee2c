# frozen_string_literal: true

require "ws_unmask/websocket_driver"
require_relative "permessage_deflate/extension"
require_relative "permessage_deflate/session"

module WsUnmask
  # Lets the sessions of the gem permessage_deflate inflate and deflate with {WsUnmask}, up to
  # websocket-driver's +max_length+: above that, the driver closes with 1009.
  #
  # Neither the negotiation nor the choice of messages to compress changes. A message that ends
  # inside a block is now an error, like others that are not valid DEFLATE. Applies to connections
  # that are opened afterwards.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/permessage_deflate"
  module PermessageDeflate
    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:permessage_deflate)) do |patches|
      unless WebSocketDriver::PATCHES.installed? # which tells sessions the limit
        raise PatchSet::Refused, "websocket-driver runs without it, too"
      end

      patches.replace ::PermessageDeflate::Extension, Extension
      patches.leave_out ::PermessageDeflate::Session, :process_incoming_message,
                        :process_outgoing_message, :close, :free, :get_inflate, :get_deflate
    end

    private_constant :Extension, :Session

    extend PatchSet::Switch
    install
  end
end
