# frozen_string_literal: true

require "fileutils"

# Copies lib for RDoc, with YARD's tags turned into RDoc's lists: ri shows tags as they are written,
# all in one paragraph.
module RiSources
  LABELS = { "param" => "", "return" => "returns", "raise" => "raises", "yield" => "yields",
             "yieldparam" => "yields ", "yieldreturn" => "the block returns" }.freeze
  private_constant :LABELS

  # @param folder [String] for the copy
  # @return [String] the folder
  def self.make(folder)
    FileUtils.rm_rf(folder)
    Dir["lib/**/*.rb"].each do |path|
      FileUtils.mkdir_p(File.dirname("#{folder}/#{path}"))
      File.write("#{folder}/#{path}", convert(File.read(path)))
    end
    folder
  end

  # @param source [String] Ruby
  # @return [String]
  def self.convert(source)
    source.gsub(/(?:^ *#.*\n)+/) do |comment|
      margin = comment[/\A */]
      lines = comment.lines(chomp: true).map { |line| line.sub(/\A *# ?/, "") }
      converted(lines).map { |line| "#{margin}#{line == "#" ? "##" : "# #{line}".rstrip}\n" }.join
    end
  end

  def self.converted(lines)
    lines = unindented(lines).map { |line| line.gsub(/\{([A-Z#.][^{}\s=]*)\}/, '\1') }
    first_tag = lines.index { |line| line.match?(/\A@!?\w/) } or return lines

    [*lines.take(first_tag), "",
     *lines.drop(first_tag).flat_map { |line| tag(line.lstrip, line[/\A */]) || [line] }]
  end

  # The documentation of a method in Rust is indented below @!method.
  def self.unindented(lines)
    at = lines.index { |line| line.start_with?("@!method") } or return lines

    signature = lines[at].delete_prefix("@!method ").delete_prefix("self.")
    [*lines.take(at), ":call-seq:", "  #{signature}", "",
     *lines.drop(at + 1).map { |line| line.delete_prefix("  ") }]
  end

  # @return [Array<String>, nil] the lines that a tag becomes; nil if there is none
  def self.tag(line, indent)
    name, rest = line.match(/\A@!?(\w+) ?(.*)/)&.captures
    return if name.nil?
    return [] if name == "api"
    return ["", "#{indent}#{rest}", ""] if %w[example overload attribute].include?(name)

    parameter, rest = rest.split(" ", 2) if name.end_with?("param")
    type, text = rest.to_s.match(/\A(?:\[(.+?)\](?= |\z))? ?(.*)/).captures
    type = " #{parameter ? "(#{type})" : type}" if type
    ["#{indent}#{LABELS.fetch(name, name)}#{parameter}#{type}::", "#{indent}  #{text}"]
  end

  private_class_method :convert, :converted, :unindented, :tag
end
