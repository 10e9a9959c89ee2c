# frozen_string_literal: true

RSpec.describe "WsUnmask::VERSION" do
  it "is the same for the gem and the Rust crates, from one source" do
    root = File.expand_path("..", __dir__)
    gem = Gem::Specification.load("#{root}/ws_unmask.gemspec")
    expect(gem.version.to_s).to eq WsUnmask::VERSION
    locked = File.read("#{root}/Cargo.lock").scan(/name = "ws_unmask\w*"\nversion = "(.+)"/).flatten
    expect(locked).to eq [WsUnmask::VERSION] * 2
    expect(WsUnmask::VERSION).to be_frozen
  end
end
