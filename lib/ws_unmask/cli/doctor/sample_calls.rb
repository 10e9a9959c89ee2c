# frozen_string_literal: true

module WsUnmask
  class CLI
    class Doctor
      # The calls that a library makes per message, timed with and without its integration.
      module SampleCalls
        KEY = "\x37\xfa\x21\x3d".b.freeze
        private_constant :KEY

        # The methods of a socket that websocket-driver calls.
        class Socket
          # @return [String]
          def url = "ws://localhost/"

          # @return [Hash{String => String}]
          def env
            { "REQUEST_METHOD" => "GET", "HTTP_CONNECTION" => "Upgrade",
              "HTTP_UPGRADE" => "websocket", "HTTP_SEC_WEBSOCKET_VERSION" => "13",
              "HTTP_SEC_WEBSOCKET_KEY" => "x" * 24 }
          end

          # @param bytes [String]
          # @return [Integer]
          def write(bytes) = bytes.bytesize
        end
        private_constant :Socket

        class << self
          # @param integration [Integration] which is installed
          # @param size [Integer] of the payload, in bytes
          # @return [Hash{String => Proc}] calls by name; empty for a library without samples
          def of(integration, size)
            respond_to?(integration.name, true) ? send(integration.name, size) : {}
          end

          private

          def websocket_driver(size)
            driver = ::WebSocket::Driver.rack(Socket.new)
            driver.on(:message, &:data)
            driver.start
            received = frame(size)
            text = "x" * size
            { "receive" => -> { driver.parse(received) }, "send" => -> { driver.text(text) } }
          end

          def protocol_websocket(size)
            frame = ::Protocol::WebSocket::TextFrame.new(true, Random.bytes(size), mask: KEY)
            { "unmask a frame" => -> { frame.unpack } }
          end

          def websocket(size)
            incoming = ::WebSocket::Frame::Incoming::Server.new(version: 13)
            received = frame(size)
            { "receive" => lambda {
              incoming << received
              incoming.next
            } }
          end

          def em_websocket(size)
            masked = ::EventMachine::WebSocket::MaskedString.new(KEY + ("x" * size))
            masked.read_mask
            { "unmask a frame" => -> { masked.getbytes(4, size) } }
          end

          def midori(size)
            socket = ::Midori::WebSocket.new(nil)
            received = StringIO.new(frame(size))
            { "receive" => lambda {
              received.rewind
              socket.decode(received)
            } }
          end

          def frame(size) = Frame.encode(:text, "x" * size, mask: KEY)
        end
      end
      private_constant :SampleCalls
    end
  end
end
