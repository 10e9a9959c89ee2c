# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tempfile"

RSpec.describe "benches/profile.rb" do
  it "profiles a script without ws_unmask and with it" do
    root = File.expand_path("..", __dir__)
    Tempfile.create(["script", ".rb"]) do |script|
      script.write(<<~RUBY)
        def work_of_the_script = 300_000.times { |i| i.to_s * 2 }
        work_of_the_script
        warn WsUnmask.installed.inspect
      RUBY
      script.flush
      output, status = Open3.capture2e(RbConfig.ruby, "-Ilib", "benches/profile.rb", script.path,
                                       chdir: root)
      expect(status).to be_success, output
      expect(output.lines.grep(/\A\[/).map(&:chomp)).to eq ["[]", "[:websocket_driver]"]
      expect(output).to match(/^Integer#to_s +[\d.]+ \( *\d+%\) +[\d.]+ \( *\d+%\)$/)
      %w[before after].each do |name|
        svg = File.read("#{root}/tmp/profile/#{name}.svg")
        expect(svg).to include "<svg", "work_of_the_script"
      end
    end
  end
end
