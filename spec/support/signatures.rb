# frozen_string_literal: true

# As much of RBS as sig/ has: the methods that it declares. (Debian has no rbs gem.)
class Signatures
  # @!attribute owner [String] e.g. "WsUnmask::Frame"
  # @!attribute kind [Symbol] :singleton or :instance
  # @!attribute counts [Array<Range>] positional arguments that each overload takes
  Declared = Struct.new(:owner, :kind, :name, :counts)

  SCOPE = /\A(?:class|module) ([\w:]+)/
  INTERFACE = /\Ainterface /
  METHOD = /\Adef (self\.)?([\w?!=]+): (.+)/
  READER = /\Aattr_(?:reader|accessor) (self\.)?(\w+):/
  WRITER = /\Aattr_accessor (self\.)?(\w+):/

  # @param text [String]
  # @return [Array<Declared>]
  def self.parse(text)
    scopes = []
    statements(text).flat_map do |statement|
      case statement
      when SCOPE, INTERFACE then enter(scopes, statement[SCOPE, 1])
      when "end" then leave(scopes)
      else methods_of(statement, scopes)
      end
    end
  end

  def self.methods_of(statement, scopes)
    methods = []
    statement.match(METHOD) { |match| methods << [match[1], match[2], overloads(match[3])] }
    statement.match(READER) { |match| methods << [match[1], match[2], [0..0]] }
    statement.match(WRITER) { |match| methods << [match[1], "#{match[2]}=", [1..1]] }
    methods.filter_map { |singleton, name, counts| declared(scopes, singleton, name, counts) }
  end

  # nil stands for an interface, which nothing has to have.
  def self.enter(scopes, name)
    scopes << name
    []
  end

  def self.leave(scopes)
    scopes.pop
    []
  end

  # Lines, those of one declaration together.
  def self.statements(text)
    text.lines.map(&:strip).reject { |line| line.empty? || line.start_with?("#") }
        .slice_when { |before, after| !before.end_with?("(", ",") && !after.match?(/\A[)|?]/) }
        .map { |lines| lines.join(" ") }
  end

  def self.declared(scopes, is_singleton, name, counts)
    return if scopes.include?(nil)

    Declared.new(scopes.join("::"), is_singleton ? :singleton : :instance, name.to_sym, counts)
  end

  def self.overloads(types)
    types.split(/ \| (?=\()/).map { |type| positional(type[/\A\((.*?)\) (?:->|\{)/, 1].to_s) }
  end

  def self.positional(parameters)
    all = split(parameters).grep_v(/\A\??\w+: /)
    required = all.count { |parameter| !parameter.start_with?("?", "*") }
    all.last&.start_with?("*") ? (required..) : (required..all.size)
  end

  # At the commas that are within no bracket.
  def self.split(parameters)
    depth = 0
    pieces = parameters.each_char.slice_when do |char, _|
      depth += { "[" => 1, "(" => 1, "]" => -1, ")" => -1 }.fetch(char, 0)
      char == "," && depth.zero?
    end
    pieces.map { |chars| chars.join.delete_suffix(",").strip }
  end

  private_class_method :methods_of, :enter, :leave, :statements, :declared, :overloads,
                       :positional, :split
end
