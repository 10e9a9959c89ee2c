# frozen_string_literal: true

require "websocket/driver"

# websocket-driver's masking functions: in C, and in Ruby for where that does not compile.
module DriverMasks
  NAMES = %i[C Ruby].freeze

  IN_RUBY = <<~RUBY
    def mask(payload, mask)
      return payload if mask.nil? || payload.empty?

      payload.tap do |result|
        payload.bytesize.times do |i|
          result.setbyte(i, payload.getbyte(i) ^ mask.getbyte(i % 4))
        end
      end
    end
  RUBY
  # In the driver's folder, so that it looks like the driver's own.
  FILE = $LOAD_PATH.resolve_feature_path("websocket/driver").last.sub(/driver\.rb\z/, "mask.rb")

  # Defines the methods that the driver has without its C extension, while a block runs.
  def self.in_ruby
    owner = WebSocket::Mask.singleton_class
    original = owner.instance_method(:mask)
    owner.alias_method(:mask, :mask)
    owner.class_eval(IN_RUBY, FILE, 1)
    yield
  ensure
    owner.alias_method(:mask, :mask)
    owner.define_method(:mask, original)
  end
end

RSpec.shared_context "driver mask" do |name|
  if name == :Ruby
    around do |example|
      WsUnmask::WebSocketDriver.uninstall
      DriverMasks.in_ruby do
        WsUnmask::WebSocketDriver.install
        example.run
        WsUnmask::WebSocketDriver.uninstall
      end
    ensure
      WsUnmask::WebSocketDriver.install
    end
  end
end
