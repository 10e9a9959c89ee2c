# frozen_string_literal: true

require "open3"
require "rbconfig"
require "ripper"

# Checks that the documentation's examples run, its links work, and the rake tasks it names exist.
RSpec.describe "the documentation" do
  root = File.expand_path("..", __dir__)
  runner = "#{__dir__}/support/documented_example.rb"
  files = Dir.chdir(root) { Dir["{README,CONTRIBUTING,SECURITY}.md", "{docs,guides}/*.md"] }

  files.each do |file|
    text = File.read("#{root}/#{file}")

    # A block that cannot run has a reason before it: <!-- not run: needs a server -->
    examples = text.scan(/(?:<!-- not run: (.+?) -->\n)?^```ruby\n(.*?)^```$/m)
    examples.each.with_index(1) do |(reason, code), number|
      it "has an example #{number} in #{file} that #{reason ? "is Ruby" : "is right"}" do
        expect(Ripper.sexp(code)).not_to be_nil
        next if reason

        expect(code).to match(/# (=>|prints) /)
        output, status = Open3.capture2e(RbConfig.ruby, "-I#{root}/lib", runner, stdin_data: code)
        expect(status).to be_success, output
      end
    end

    it "has links in #{file} that lead somewhere" do
      links = text.scan(/\]\(([^)#]*)(?:#([^)]*))?\)/).reject { |path, _| path.start_with?("http") }
      links.each do |path, anchor|
        target = File.expand_path(path.empty? ? File.basename(file) : path,
                                  File.dirname("#{root}/#{file}"))
        expect(File).to exist(target), "#{file}: #{path}"
        next unless anchor

        titles = File.read(target).scan(/^#+ (.+)$/).flatten
        anchors = titles.map { |title| title.downcase.gsub(/[^\w\- ]/, "").tr(" ", "-") }
        expect(anchors).to include(anchor), "#{file}: #{path}##{anchor}"
      end
    end
  end

  describe "rake tasks" do
    listed = lambda do
      output, = Open3.capture2({ "COLUMNS" => "500" }, RbConfig.ruby, "-S", "rake", "-T",
                               chdir: root)
      output.scan(/^rake ([\w:]+)\S* +# (.+)$/).to_h
    end
    minutes = /(?:\d+|half a) minutes?/
    lines = files.flat_map { |file| File.readlines("#{root}/#{file}") }

    let(:tasks) { listed.call }

    it "are all listed by rake -T" do
      code = lines.flat_map { |line| line.scan(/`([^`]+)`/) }.flatten
      named = code.filter_map { |command| command[/(?:\A| )rake '?([\w:]+)/, 1] }.uniq
      expect(named.size).to be > 20
      expect(named - tasks.keys).to be_empty
    end

    it "take as long in CONTRIBUTING.md as rake -T says" do
      rows = File.readlines("#{root}/CONTRIBUTING.md").grep(/^\| `rake /)
      documented = rows.to_h { |row| [row[/rake '?([\w:]+)/, 1], row.scan(minutes)] }
      expected = tasks.transform_values { |description| description.scan(minutes) }
      expect(documented.values.flatten).not_to be_empty
      expect(documented).to eq expected.slice(*documented.keys)
      expect(expected.except(*documented.keys).values.flatten).to be_empty
    end

    it "take as long elsewhere as rake -T says" do
      lines.grep(/`rake .*\d minute/).each do |line|
        expect(tasks.fetch(line[/`rake '?([\w:]+)/, 1])).to include(line[minutes]), line
      end
    end
  end

  it "is listed in docs/README.md" do
    index = File.read("#{root}/docs/README.md")
    expect(Dir.children("#{root}/guides").reject { |guide| index.include?("guides/#{guide})") })
      .to be_empty
  end
end
