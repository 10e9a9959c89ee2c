# frozen_string_literal: true

require "open3"

RSpec.describe "the commands in bin/" do
  root = File.expand_path("..", __dir__)

  %w[demo setup test].each do |name|
    describe "bin/#{name}" do
      it "prints its usage for --help and runs nothing" do
        output, status = Open3.capture2e("#{root}/bin/#{name}", "--help")
        expect(output).to start_with "Usage: bin/#{name}"
        expect(output.lines.size).to be < 4
        expect(status).to be_success
      end

      it "fails with its usage for an unknown argument" do
        output, status = Open3.capture2e("#{root}/bin/#{name}", "unknown")
        expect(output).to start_with "Usage: bin/#{name}"
        expect(status).not_to be_success
      end
    end
  end
end
