# frozen_string_literal: true

require "ws_unmask/websocket_driver"
require_relative "../../support/driver_transcript"
require_relative "../../../benches/support/driver"
require_relative "../../support/hooks"
require_relative "../../support/with_and_without"

# Instrumentation of others, before and after ws_unmask/websocket_driver is installed.
RSpec.describe "ws_unmask/websocket_driver under instrumentation" do
  include Traffic

  include_context "with and without", WsUnmask::WebSocketDriver

  let(:patches) { WsUnmask::WebSocketDriver::PATCHES }

  # Every kind of frame, whole, in pieces, several in a piece, and wrong at the end.
  let(:pieces) do
    text = frame(:text, "grüß dich " * 30)
    [hello, hello + frame(:ping, "p") + frame(:binary, "\x00\xff" * 100) + frame(:pong, "p"),
     frame(:text, "Hel", fin: false) + frame(:continuation, "lo") + hello.byteslice(0, 3),
     hello.byteslice(3..) + text.byteslice(0, 100),
     text.byteslice(100..) + hello, *text.chars,
     frame(:close, [1000, "bye"].pack("na*")), hello]
  end

  # What the driver does and what the hook sees, which masks at random for a client.
  def life(target, name, way, role: :server, pieces: self.pieces)
    hook = Hooks.new(target, name)
    transcript = DriverTranscript.new(role:)
    transcript.driver.parse(hello)
    hook.around(way, transcript.driver) { transcript.run(pieces, random: Random.new(3)) }
    [hook.calls, *transcript.lines]
  end

  describe "that comes after it" do
    Hooks::EVERY.product(Hooks::WAYS).each do |(target, name), way|
      next unless Hooks.fit?(target, way)

      it "lets #{way} see all calls of #{target}##{name}" do
        ours, theirs = both { life(target, name, way) }
        expect(ours.first).to eq theirs.first
        expect(ours).to eq theirs
      end
    end

    it "may be given to a module that was included or prepended without it" do
      %i[include prepend].product(%i[emit emit_message]).each do |way, name|
        next if [way, name] == %i[include emit_message] # the class's own comes first

        ours, theirs = both do
          others = Module.new
          Hooks::HYBI.public_send(way, others)
          transcript = DriverTranscript.new(role: :server)
          transcript.driver.parse(hello)
          calls = 0
          others.define_method(name) { |*values| (calls += 1) && super(*values) }
          transcript.run([hello, hello * 2], random: Random.new(3))
          [calls, *transcript.lines]
        ensure
          others.remove_method(name)
        end
        expect(ours).to eq theirs
        expect(ours.first).to be_positive
      end
    end

    it "never sees chunks that were not read" do
      calls, = life(Hooks::HYBI, :parse, :alias_method)
      expect(calls.flatten(1)).to eq(pieces.map { |piece| [piece.b.hash, Encoding::BINARY] })
    end

    it "may come while a message is delivered" do
      ours, theirs = both do
        hook = Hooks.new(Hooks::HYBI, :emit_message)
        transcript = DriverTranscript.new(role: :server)
        transcript.driver.on(:ping) { nil }
        transcript.driver.on(:message) do
          hook.hook(:extend, transcript.driver) if hook.calls.empty?
        end
        transcript.driver.parse(hello * 5)
        [hook.calls.size, transcript.lines]
      end
      expect(ours).to eq theirs
      expect(ours.first).to be_positive
    end

    it "changes nothing for random traffic" do
      expect_no_difference do |random|
        (target, name), way = [Hooks::EVERY, Hooks::WAYS].map { |some| some.sample(random:) }
        way = :prepend unless Hooks.fit?(target, way)
        frames = random_frames(random)
        pieces = [frames, [frames.join], cut(frames.join, random:)].sample(random:)
        life(target, name, way, pieces:)
      end
    end

    it "makes uninstall do nothing while a method is wrapped" do
      hook = Hooks.new(Hooks::HYBI, :parse)
      hook.around(:alias_method) do
        expect { expect(WsUnmask::WebSocketDriver.uninstall).to be false }
          .to output(/stays installed: WebSocket::Driver::Hybi#parse .*hooks\.rb/).to_stderr
      end
      hook.around(:prepend) { expect(WsUnmask::WebSocketDriver.uninstall).to be true }
      expect(WsUnmask::WebSocketDriver.install).to be true
    end
  end

  describe "that was there first" do
    patched = WsUnmask::WebSocketDriver::PATCHES
    looked_at = Hooks::EVERY.select do |target, name|
      method = target.instance_method(name)
      name != :valid_frame_rsv? && patched.unhooked? && method.owner == target &&
        !%i[text binary fail shutdown].include?(name)
    end

    it "is checked for all replaced and bypassed methods" do
      expect(looked_at.size).to be >= 17
    end

    looked_at.product(%i[prepend alias_method]).each do |(target, name), way|
      it "keeps its #{way} of #{target}##{name}, and is named in the warning" do
        WsUnmask::WebSocketDriver.uninstall
        hook = Hooks.new(target, name)
        hook.around(way) do
          patches.instance_variable_set(:@has_warned, false)
          expect { expect(WsUnmask::WebSocketDriver.install).to be false }
            .to output(/\Aws_unmask: websocket-driver runs without ws_unmask, .*hooks\.rb:\d+/)
            .to_stderr
          expect(patches.problem).to include "##{name} has been redefined"
          expect(patches.problem).to include "Require ws_unmask/websocket_driver before"
          expect(patches).not_to be_installed
          Connection.open_driver.tap { |driver| driver.parse(hello) }.text("")
          Connection.open_driver.parse(frame(:ping, "p"))
        end
        expect(WsUnmask::WebSocketDriver.install).to be true
      end
    end
  end
end
