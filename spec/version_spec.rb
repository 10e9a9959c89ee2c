# frozen_string_literal: true

RSpec.describe "WsUnmask::VERSION" do
  it "is that of the Rust crates" do
    cargo = File.read(File.expand_path("../Cargo.toml", __dir__))
    expect(cargo[/^version = "(.+)"/, 1]).to eq WsUnmask::VERSION
  end
end
