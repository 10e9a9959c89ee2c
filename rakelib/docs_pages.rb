# frozen_string_literal: true

require "fileutils"

# Turns the Markdown files into pages for YARD, which puts all pages into one folder. Links between
# the files become links between the pages. Pictures and other linked files are copied to
# FOLDER/files.
class DocsPages
  SOURCES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
             "{docs,guides}/**/*.md"].freeze
  LINK = /(?<start>!?\[[^\]]*\]\()(?<path>[^)#:]+)(?<anchor>#[^)]*)?\)/
  private_constant :SOURCES, :LINK

  # @param pages [String] the folder for the pages
  # @param site [String] YARD's output folder
  def initialize(pages, site)
    @pages = pages
    @site = site
    @names = Dir[*SOURCES].to_h { |path| [path, name(path)] }
  end

  # @return [Array<String>] the files of the pages, README.md first
  def make
    FileUtils.rm_rf(@pages)
    FileUtils.mkdir_p(@pages)
    @names.map do |path, name|
      "#{@pages}/#{name}.md".tap { |page| File.write(page, with_links(path)) }
    end
  end

  private

  # YARD names a page by its file, without the folder: docs/benchmarks/README.md is "benchmarks".
  def name(path)
    folder, file = File.split(path.delete_suffix(".md"))
    file == "README" && folder != "." ? File.basename(folder) : file
  end

  def with_links(path)
    File.read(path).gsub(LINK) do
      match = Regexp.last_match
      target = File.expand_path(match[:path], File.dirname(path)).delete_prefix("#{Dir.pwd}/")
      "#{match[:start]}#{place(target)}#{match[:anchor]})"
    end
  end

  def place(target)
    return "file.#{@names[target]}.html" if @names.key?(target)

    # Browsers show source files only if they are text.
    copy = "files/#{target}#{".txt" unless target.end_with?(".svg")}"
    FileUtils.mkdir_p(File.dirname("#{@site}/#{copy}"))
    if File.directory?(target)
      File.write("#{@site}/#{copy}", Dir["#{target}/**/*"].select { File.file?(_1) }.join("\n"))
    else
      FileUtils.cp(target, "#{@site}/#{copy}")
    end
    copy
  end
end
