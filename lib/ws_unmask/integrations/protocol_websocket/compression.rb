# frozen_string_literal: true

require_relative "deflate"
require_relative "inflate"

module WsUnmask
  module ProtocolWebSocket
    # For the singleton class of +Protocol::WebSocket::Extension::Compression+: connections that are
    # opened afterwards inflate and deflate natively.
    module Compression
      # @param patches [PatchSet]
      # @return [void]
      def self.add_to(patches)
        begin
          require "protocol/websocket/extensions"
        rescue LoadError
          return # before 0.8
        end

        compression = ::Protocol::WebSocket::Extension::Compression
        return unless compression::Inflate.private_method_defined?(:inflate) # before 0.9

        patches.replace compression.singleton_class, self
        patches.leave_out compression::Inflate, :inflate
        patches.leave_out compression::Deflate, :deflate
      end

      # @param connection [::Protocol::WebSocket::Connection]
      # @param options [Hash] what was negotiated
      # @return [Object] what the library's own method returns
      def server(connection, **options)
        server_without_ws_unmask(connection, **options).tap { ws_unmask_take_over(connection) }
      end

      # @param (see #server)
      # @return (see #server)
      def client(connection, **options)
        client_without_ws_unmask(connection, **options).tap { ws_unmask_take_over(connection) }
      end

      private

      def ws_unmask_take_over(connection)
        return unless PATCHES.unhooked?

        connection.reader.extend(Inflate) if connection.reader.instance_of?(self::Inflate)
        connection.writer.extend(Deflate) if connection.writer.instance_of?(self::Deflate)
      end
    end
  end
end
