# frozen_string_literal: true

RSpec.describe ".github/workflows" do
  Dir[File.expand_path("../.github/workflows/*.yml", __dir__)].each do |file|
    # Tags can be moved, commits cannot.
    it "pins the actions of #{File.basename(file)} by their commits, and names the tags" do
      expect(File.readlines(file).grep(/uses:/)).to all match(%r{uses: [\w./-]+@\h{40} # v\d+})
    end
  end

  it "does not require gems on Windows that do not compile there" do
    gemfile = File.readlines(File.expand_path("../Gemfile", __dir__))
    expect(gemfile.grep(/"stackprof"/)).to all include("platforms: :ruby")
  end
end
