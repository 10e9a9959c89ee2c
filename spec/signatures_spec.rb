# frozen_string_literal: true

require "ws_unmask/cli"
require "ws_unmask/em_websocket"
require "ws_unmask/websocket"
require "ws_unmask/websocket_driver"
require_relative "support/signatures"

RSpec.describe "sig/ws_unmask.rbs" do
  declared = Signatures.parse(File.read(File.expand_path("../sig/ws_unmask.rbs", __dir__)))

  # Drop-ins warn where their library is not.
  before(:context) do
    stderr = $stderr
    $stderr = StringIO.new
    %w[midori protocol_websocket].each { |file| require "ws_unmask/#{file}" }
  ensure
    $stderr = stderr
  end

  def scope_of(owner)
    owner.split("::").inject(Object) { |scope, name| scope.const_get(name) }
  end

  def method_of(signature)
    scope = scope_of(signature.owner)
    return scope.instance_method(signature.name) if signature.kind == :instance

    method = scope.method(signature.name)
    method.owner == Class ? scope.instance_method(:initialize) : method
  end

  # How many positional arguments it takes.
  def counts_of(method)
    kinds = method.parameters.map(&:first)
    required = kinds.count(:req)
    kinds.include?(:rest) ? (required..) : (required..(required + kinds.count(:opt)))
  end

  it "declares what there is, with the arguments that it takes" do
    expect(declared.size).to be > 50
    declared.each do |signature|
      taken = counts_of(method_of(signature))
      signature.counts.each do |counts|
        expect(taken).to cover(counts), "#{signature}: it takes #{taken}"
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
