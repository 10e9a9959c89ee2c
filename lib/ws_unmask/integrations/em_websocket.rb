# frozen_string_literal: true

require "ws_unmask"
require_relative "em_websocket/masked_string"

module WsUnmask
  # Lets the em-websocket gem unmask with {WsUnmask}.
  #
  # @example In a Gemfile
  #   gem "ws_unmask", require: "ws_unmask/em_websocket"
  module EmWebSocket
    # Old versions start at another byte of the key, or return another encoding.
    def self.check_behavior(masked_string)
      key = "\x01\x02\x03\x04".b
      string = masked_string.new("#{key}\xf0\x9f\x98\x80!".b).tap(&:read_mask)
      got = string.getbytes(5, 4)
      expected = WsUnmask.unmask("\x9f\x98\x80!".b, key, 1)
      return if got == expected && got.encoding == expected.encoding

      raise PatchSet::Refused, "#{masked_string}#getbytes does not return what it does " \
                               "in em-websocket 0.3.7 and later"
    end
    private_class_method :check_behavior

    # @return [PatchSet]
    PATCHES = PatchSet.new(Integration.find(:em_websocket)) do |patches|
      masked_string = ::EventMachine::WebSocket::MaskedString
      check_behavior(masked_string)
      patches.replace masked_string, MaskedString
      patches.leave_out masked_string, :getbyte
    end

    private_constant :MaskedString

    extend PatchSet::Switch
    install
  end
end
