# frozen_string_literal: true

require "ws_unmask/websocket_driver"
require_relative "../../benches/support/driver"
require_relative "../support/driver_masks"
require_relative "../support/driver_transcript"
require_relative "../support/with_and_without"

RSpec.describe "ws_unmask/websocket_driver" do
  include Traffic

  include_context "with and without", WsUnmask::WebSocketDriver

  def transcript(pieces, random: Random.new(1), **options)
    transcript = DriverTranscript.new(**options)
    transcript.run(pieces, random:)
    transcript.lines
  end

  def random_life(random, role:, deflate: false)
    options = { role:, deflate:, habit: DriverTranscript::HABITS.sample(random:),
                max_length: [500, nil, nil, nil].sample(random:) }
    frames = random_frames(random, masked: role == :server, deflate:)
    pieces = [frames, [frames.join], cut(frames.join, random:)].sample(random:)
    transcript(pieces, random:, **options)
  end

  it "changes nothing for a server" do
    expect_no_difference { |random| random_life(random, role: :server) }
  end

  it "changes nothing for a client" do
    expect_no_difference { |random| random_life(random, role: :client) }
  end

  it "changes nothing for a server with permessage-deflate" do
    expect_no_difference { |random| random_life(random, role: :server, deflate: true) }
  end

  it "changes nothing for a client with permessage-deflate" do
    expect_no_difference { |random| random_life(random, role: :client, deflate: true) }
  end

  describe "with the driver's mask in Ruby" do
    include_context "driver mask", :Ruby

    it "changes nothing" do
      if Gem.loaded_specs["websocket-driver"].version >= Gem::Version.new("0.7.6")
        skip "this version masks in place what a listener has got"
      end

      expect_no_difference(times: 100) do |random|
        random_life(random, role: %i[server client].sample(random:))
      end
    end
  end

  it "changes nothing for messages at the size limit" do
    [499, 500, 501].each do |size|
      text = frame(:text, "x" * size)
      frames = [[text], [frame(:binary, "x" * size)], [hello, text],
                [frame(:text, "x" * 200, fin: false), frame(:continuation, "x" * (size - 200))],
                [frame(:text, "x" * 400, fin: false), frame(:ping, "x" * (size - 400)), hello]]
      frames.flat_map { |some| [some, [some.join], some.join.chars] }.each do |pieces|
        ours, theirs = both { transcript(pieces, role: :server, max_length: 500) }
        expect(ours).to eq theirs
      end
    end
  end

  it "changes nothing for arguments that are not the String the driver expects" do
    [nil, "", hello.freeze, hello.force_encoding("UTF-8"), hello.bytes, 1].each do |chunk|
      ours, theirs = both { transcript([hello, chunk, hello], role: :server) }
      expect(ours).to eq theirs
    end
    payloads = [nil, 1, [1, 300], "\xff".b, "\xff", :text]
    payloads.product([:text, :binary, :bogus, nil]) do |arguments|
      ours, theirs = both { Connection.open_driver.frame(*arguments) }
      expect(ours).to eq theirs
    end
  end

  it "accepts a text frame as a message only at the start of a message" do
    header = [0x81, 0x80 | hello.bytesize, "\0\0\0\0"].pack("CCa*")
    [[header, hello], [frame(:close), hello], [frame(:ping), hello, frame(:close), hello, hello],
     ["\x83".b, hello], [frame(:text, "a", fin: false), hello]].each do |pieces|
      ours, theirs = both { transcript(pieces, role: :server) }
      expect(ours).to eq theirs
    end
  end

  it "calls every listener, and those added meanwhile from the next message on" do
    ours, theirs = both do
      driver = Connection.open_driver
      called = []
      driver.on(:message) do |event|
        called << [1, event.data]
        driver.on(:message) { called << 2 } if called.size == 1
      end
      driver.on(:other) { |*values| called << values }
      3.times { driver.parse(hello) }
      [called, driver.emit(:other, 1, 2).size, driver.emit("none"), driver.listener_count(:message)]
    end
    expect(ours).to eq theirs
    expect(ours.first.flatten.count(2)).to eq 3
  end

  it "does not keep a large read once it is decoded" do
    driver = Connection.open_driver
    driver.parse(frame(:text, "x" * (1 << 20)) * 2)
    reader = driver.instance_variable_get(:@reader)
    expect(reader.instance_variable_get(:@buffer).bytesize).to be < 200
  end
end
