# frozen_string_literal: true

require "cgi"
require "open3"
require "rbconfig"

RSpec.describe "rake docs" do
  root = File.expand_path("..", __dir__)
  site = "#{root}/doc"

  before :all do
    skip "RDoc does not run here" unless system("rdoc", "--version", out: IO::NULL, err: IO::NULL)

    output, status = Open3.capture2e(RbConfig.ruby, "-S", "rake", "--quiet", "ruby_docs",
                                     chdir: root)
    raise output unless status.success?
  end

  # @return [Array<Array>] path and anchor of each link to this site, and of each picture
  def links(html)
    html.scan(/(?:href|src)="([^"#?]*)(?:\?\d)?(?:#([^"]*))?"/)
        .reject { |path, _| path.match?(/\A(?:https?|javascript|mailto):/) }
  end

  def leads_somewhere?(page, path, anchor)
    target = path.empty? ? page : File.expand_path(path, File.dirname(page))
    return File.exist?(target) if anchor.nil? || anchor.empty?

    File.read(target).scan(/(?:id|name)="([^"]+)"/).flatten.include?(CGI.unescape(anchor))
  end

  it "makes pages whose links all lead somewhere" do
    broken = Dir["#{site}/**/*.html"].flat_map do |page|
      links(File.read(page)).uniq.reject { |link| leads_somewhere?(page, *link) }
                            .map { |link| [page.delete_prefix("#{site}/"), *link] }
    end
    expect(broken).to be_empty
  end

  it "shows tables and pictures of the README on the first page" do
    html = File.read("#{site}/index.html")
    expect(html).to include("<table>", "files/docs/benchmarks/echo.svg")
    expect(html).not_to include "<p>|"
  end

  it "has every guide" do
    guides = Dir.children("#{root}/guides").map do |guide|
      "file.#{guide.delete_suffix(".md")}.html"
    end
    expect(Dir.children(site)).to include(*guides)
  end

  it "lets ri find methods in Ruby and in Rust" do
    { "WsUnmask::Decoder#feed" => "Takes the next bytes of the stream",
      "WsUnmask.unmask!" => "Unmasks in place",
      "WsUnmask::Connection#receive" => "",
      "WsUnmask::Decoder.new" => "max_message_size (Integer, nil)",
      "WsUnmask::Connection#flush" => "returns Boolean" }.each do |name, text|
      output, status = Open3.capture2e("ri", "--no-pager", "--no-standard-docs", "-d",
                                       "#{site}/ri", name)
      expect(status).to be_success, output
      expect(output).to include text
      expect(output).not_to match(/@(?:param|return|raise|yield)/)
    end
  end
end
