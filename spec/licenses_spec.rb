# frozen_string_literal: true

require_relative "../rakelib/third_party"

RSpec.describe "LICENSE-THIRD-PARTY" do
  written = File.read(File.join(ThirdParty::ROOT, ThirdParty::FILE), encoding: "UTF-8")

  it "is what `rake licenses` writes for the crates that are linked" do
    expect(ThirdParty.crates.map { |crate| crate["name"] })
      .to include("magnus", "rb-sys", "fearless_simd", "libm")
      .and(satisfy("have no proc macro") { |names| (names & %w[magnus-macros syn quote]).empty? })
    expect(written == ThirdParty.text).to be(true), "run `rake licenses`"
  end

  it "has a license text for each, and one for Rust's standard library" do
    sections = written.split(/^-{80}$/).drop(1)
    expect(sections.size).to eq(ThirdParty.crates.size + 1)
    expect(sections).to all match(/Permission is (?:hereby )?granted/)
  end
end
