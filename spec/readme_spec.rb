# frozen_string_literal: true

# The README's examples run, and what they say behind `# =>` is so.
RSpec.describe "README.md" do
  readme = File.read(File.expand_path("../README.md", __dir__))

  examples = readme.scan(/^```ruby\n(.*?)^```$/m).flatten.grep(/^require/)

  examples.each.with_index(1) do |example, number|
    it "has an example #{number} that is right" do
      scope = Object.new.instance_eval { binding }
      checked = 0
      example.each_line do |line|
        code, expected = line.split(/\s+# (?:=>|prints) /, 2)
        if line.include?("# prints")
          expect { scope.eval(code) }.to output(expected).to_stdout
        elsif expected
          # Behind a comma, there are words.
          value = scope.eval(expected[/\A(?:\[.*\]|[^,]+)/])
          result = scope.eval(code)
          expect(code.include?("simd_level") || result == value).to be(true), "#{line} #{result}"
        else
          scope.eval(code)
          next
        end
        checked += 1
      end
      expect(checked).to be_positive
    end
  end
end
