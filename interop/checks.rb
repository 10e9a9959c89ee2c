# frozen_string_literal: true

# The list of checks that every client reads, one per line: the name of the check, and its
# arguments. Lines with `set` come first: what goes around a payload for a server that does not
# simply echo.
module Checks
  # Around every boundary of the length in a frame's header.
  SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 1 << 20].freeze
  LARGEST = 16 << 20
  # Over the servers' limit of 64 MiB, and more than any socket buffers.
  TOO_BIG = 65 << 20
  CODES = [1000, 1001, 1011, 3000, 4999].freeze
  private_constant :SIZES, :LARGEST, :TOO_BIG, :CODES

  # Action Cable's protocol: how EchoChannel of examples/action_cable is spoken to.
  CABLE = {
    "hello" => '{"command":"subscribe","identifier":"{\"channel\":\"EchoChannel\"}"}',
    "before" => '{"command":"message","identifier":"{\"channel\":\"EchoChannel\"}",' \
                '"data":"{\"text\":\"',
    "after" => '\"}"}',
    "reply_before" => '{"identifier":"{\"channel\":\"EchoChannel\"}","message":{"text":"',
    "reply_after" => '"}}',
    "ignore" => '{"type":'
  }.freeze
  private_constant :CABLE

  module_function

  # @param server [InteropServer]
  # @param short [Boolean]
  # @return [Array<String>] lines
  def for(server, short:)
    return cable(short) if server.is?(:action_cable)

    [*echoes(SIZES, %w[ascii emoji], short), *binaries(short), *fragments(short), "burst 200",
     *[0, 1, 125].map { |size| "ping #{size}" },
     *closes("close"), *(closes("closed") if server.is?(:obeys)),
     *("pinged" if server.is?(:pings)), *refused(server), "restart"]
  end

  # @return [Array<String>] for Action Cable's own client, which does the protocol by itself
  def for_cable_client(short:)
    [*echoes(SIZES, %w[ascii emoji], short), "restart"]
  end

  def cable(short)
    around = [%w[before after], %w[reply_before reply_after]]
    sizes = around.flat_map do |ends|
      SIZES.map { |size| size - CABLE.values_at(*ends).sum(&:bytesize) }
    end
    [*CABLE.map { |name, value| "set #{name} #{value}" },
     *echoes(sizes.select(&:positive?), %w[ascii emoji], short),
     "echo text emoji 1000 3", "ping 5", "close 1000 bye", "restart",
     "too_big #{TOO_BIG} 1009,1006"] # last: a connection that breaks troubles no other check
  end

  def echoes(sizes, fills, short)
    [*sizes, *(LARGEST unless short)].product(fills).map do |size, fill|
      "echo text #{fill} #{size} 1"
    end
  end

  def binaries(short)
    [*SIZES, *(LARGEST unless short)].map { |size| "echo binary bytes #{size} 1" }
  end

  def fragments(short)
    [7, 126, 65_536, *(1 << 20 unless short)].flat_map do |size|
      ["echo text emoji #{size} 3", "echo binary bytes #{size} 7"]
    end
  end

  def closes(name) = CODES.map { |code| "#{name} #{code} bye" }

  # What a server closes the connection for, with the code that says why. websocket-driver's servers
  # may close it before the client has read the code.
  def refused(server)
    if server.is?(:connection) then ["too_big #{TOO_BIG} 1009", "invalid_utf8"]
    elsif server.is?(:websocket_driver) then ["too_big #{TOO_BIG} 1009,1006", "invalid_utf8"]
    end
  end
end
