# frozen_string_literal: true

require "open3"
require "rbconfig"
require "ws_unmask/cli"
require "ws_unmask/em_websocket"
require "ws_unmask/websocket"
require "ws_unmask/websocket_driver"
require_relative "support/signatures"

RSpec.describe "sig/ws_unmask.rbs" do
  declared = Signatures.declared

  # Integrations warn if their library is missing.
  before(:context) do
    stderr = $stderr
    $stderr = StringIO.new
    %w[midori permessage_deflate protocol_websocket].each { |file| require "ws_unmask/#{file}" }
  ensure
    $stderr = stderr
  end

  # A public method, or the `initialize` that `new` passes its arguments to.
  def method_of(signature)
    scope = Object.const_get(signature.scope)
    return scope.instance_method(signature.name) if signature.kind == :instance

    method = scope.method(signature.name)
    method.owner == Class ? scope.instance_method(:initialize) : method
  end

  # A method in Rust with optional arguments says only that it takes any.
  def any_arguments?(method)
    method.parameters == [[:rest]]
  end

  # How many positional arguments it takes.
  def taken_by(method)
    kinds = method.parameters.map(&:first)
    counts(kinds.count(:req), kinds.count(:opt), kinds.include?(:rest))
  end

  def declared_by(function)
    counts(function.required_positionals.size + function.trailing_positionals.size,
           function.optional_positionals.size, function.rest_positionals)
  end

  def counts(required, optional, rest)
    required..(rest ? Float::INFINITY : required + optional)
  end

  # Those of one kind: required ones (:keyreq) or optional ones (:key).
  def keywords(method, kind)
    method.parameters.filter_map { |its_kind, name| name if its_kind == kind }.sort
  end

  it "is valid" do
    output, status = Open3.capture2e(RbConfig.ruby, Gem.bin_path("rbs", "rbs"),
                                     "-I", Signatures::FOLDER, "validate")
    expect(status).to be_success, output
  end

  it "declares the positional arguments that each method takes" do
    expect(declared.size).to be > 50
    declared.each do |signature|
      method = method_of(signature)
      taken = taken_by(method)
      counts = signature.functions.map { |function| declared_by(function) }
      counts = Range.new(*counts.flat_map { |it| [it.begin, it.end] }.minmax)
      fits = any_arguments?(method) || counts == taken
      expect(fits).to be(true), "#{signature} takes #{taken} arguments, and #{counts} are declared"
    end
  end

  it "declares the keywords that each method takes" do
    declared.each do |signature|
      method = method_of(signature)
      next if any_arguments?(method)

      signature.functions.each do |function|
        expect([function.required_keywords.keys.sort, function.optional_keywords.keys.sort])
          .to eq([keywords(method, :keyreq), keywords(method, :key)]), signature.to_s
      end
    end
  end

  # Public modules, and those within them.
  def scopes_in(scope)
    inner = scope.constants.map { |name| scope.const_get(name) }
                 .select { |it| it.is_a?(Module) && it.name&.start_with?("#{scope.name}::") }
    [scope, *inner.flat_map { |module_| scopes_in(module_) }]
  end

  it "declares every public method" do
    of_any_struct = Struct.new(:member).singleton_methods(false)
    scopes_in(WsUnmask).each do |scope|
      singleton = scope.singleton_methods(false) - of_any_struct
      there = singleton.map { |name| [scope.name, :singleton, name] } +
              scope.public_instance_methods(false).map { |name| [scope.name, :instance, name] }
      missing = there - declared.map { |signature| signature.to_a.first(3) }
      expect(missing).to be_empty
    end
  end
end
