# frozen_string_literal: true

require "ws_unmask/websocket"
require_relative "../method_source"
require_relative "websocket_client_simple/client"
require_relative "websocket_client_simple/read_ahead"

module WsUnmask
  # Lets the websocket-client-simple gem read all bytes that have arrived at once, instead of one
  # character at a time. The websocket gem decodes them, so {WebSocketGem} is installed, too.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/websocket_client_simple"
  module WebSocketClientSimple
    # The digests of the known versions of the method with the read loop.
    CONNECT = [
      "db6a9da16678f9c2", # 0.5
      "d08341fbbf03aed3", # 0.6 and 0.7
      "8a8eef266a7b0877"  # 0.8 and 0.9
    ].freeze

    def self.check(client)
      unless CONNECT.include?(MethodSource.digest(client.instance_method(:connect)))
        raise PatchSet::Refused, "#{client}#connect is not from a known version"
      end
      return if WebSocketGem.install

      raise PatchSet::Refused, "the websocket gem runs without it, too"
    end
    private_class_method :check

    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:websocket_client_simple)) do |patches|
      client = ::WebSocket::Client::Simple::Client
      check(client)
      patches.replace client, Client
    end

    private_constant :Client, :CONNECT, :ReadAhead

    extend PatchSet::Switch
    install
  end
end
