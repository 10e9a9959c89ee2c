# frozen_string_literal: true

# An echo server of iodine: ruby iodine_echo.rb PORT
require "iodine"

# Its callbacks for a connection.
module Echo
  def self.on_message(client, data)
    client.write(data)
  end
end

app = lambda do |env|
  env["rack.upgrade"] = Echo if env["rack.upgrade?"] == :websocket
  [200, {}, []]
end
Iodine.workers = Iodine.threads = 1
Iodine.listen(service: :http, address: "127.0.0.1", port: ARGV.fetch(0), handler: app)
Iodine.start
