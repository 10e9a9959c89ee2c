# frozen_string_literal: true

require "open3"
require "rbconfig"

RSpec.describe WsUnmask::DropIn do
  # A library whose class has one public and one private method.
  let(:target) do
    Class.new do
      def mask(_payload, _key) = "theirs"

      def both(payload, key) = [mask(payload, key), hidden(1)]

      private

      def hidden(_) = "theirs"
    end
  end
  let(:patch) do
    Module.new do
      def mask(_payload, _key) = "ours"

      private

      def hidden(_) = "ours"
    end
  end
  let(:drop_in) { described_class.new(:test, library: "set") { { target => patch } } }

  after { described_class.all.reject! { |drop_in| drop_in.name == :test } }

  def run(script, env = {})
    lib = File.expand_path("../lib", __dir__)
    output, status = Open3.capture2e(env, RbConfig.ruby, "-I#{lib}", "-e", script)
    expect(status).to be_success, output
    output
  end

  it "takes methods over, gives them back, and takes them over again" do
    object = target.new
    2.times do
      expect(drop_in.install).to be true
      expect(drop_in.install).to be true
      expect(object.both("", "")).to eq %w[ours ours]
      expect(WsUnmask.installed).to include :test
      expect { object.hidden(1) }.to raise_error(NoMethodError, /private/)
      expect(drop_in.uninstall).to be true
      expect(drop_in.uninstall).to be false
      expect(object.both("", "")).to eq %w[theirs theirs]
      expect(WsUnmask.installed).not_to include :test
    end
  end

  it "warns once and leaves a library alone whose methods take other arguments" do
    target.class_eval { define_method(:mask) { |_payload, _key, _offset| "other" } }
    expect { 2.times { expect(drop_in.install).to be false } }
      .to output(/\Aws_unmask: test is not installed: .*#mask takes 3 arguments here, not 2\n\z/)
      .to_stderr
    expect(target.new.mask("", "", 0)).to eq "other"
  end

  it "leaves a library alone that lacks one of the methods, and does not take over the others" do
    target.class_eval { remove_method :hidden }
    expect { drop_in.install }.to output(/undefined method `hidden'/).to_stderr
    expect(target.new.mask("", "")).to eq "theirs"
  end

  it "warns if the library is not there" do
    drop_in = described_class.new(:test, library: "no/such/library") { {} }
    expect { drop_in.install }.to output(/is not installed: cannot load such file/).to_stderr
    expect(drop_in).not_to be_installed
  end

  it "can be required before or after the library, and turned off from outside" do
    before = "require 'ws_unmask/websocket_driver'; require 'websocket/driver'; "
    after = "require 'websocket/driver'; require 'ws_unmask/websocket_driver'; "
    show = "print WsUnmask.installed, ' ', WebSocket::Mask.method(:mask).owner"
    expected = "[:websocket_driver] WsUnmask::WebSocketDriver::Mask"
    expect(run(before + show)).to eq expected
    expect(run(after + show)).to eq expected
    expect(run(after + show, "WS_UNMASK_DISABLE" => "1")).to eq "[] #<Class:WebSocket::Mask>"
  end
end
