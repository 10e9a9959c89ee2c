# frozen_string_literal: true

require "pathname"
require "rbs"

# The declarations of sig/, as read by the rbs gem.
class Signatures
  FOLDER = File.expand_path("../../sig", __dir__)

  # @!attribute scope [String] e.g. "WsUnmask::Frame"
  # @!attribute kind [Symbol] :singleton or :instance
  # @!attribute functions [Array<RBS::Types::Function>] the arguments of each overload
  Declared = Struct.new(:scope, :kind, :name, :functions) do
    def to_s = "#{scope}#{kind == :instance ? "#" : "."}#{name}"
  end

  # @return [Array<Declared>] the methods of every module and class
  def self.declared
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(FOLDER))
    environment = RBS::Environment.from_loader(loader).resolve_type_names
    builder = RBS::DefinitionBuilder.new(env: environment)
    ours = environment.class_decls.keys.select { |name| name.to_s.start_with?("::WsUnmask") }
    ours.flat_map do |name|
      methods_of(name, :instance, builder.build_instance(name)) +
        methods_of(name, :singleton, builder.build_singleton(name))
    end
  end

  def self.methods_of(scope, kind, definition)
    own = definition.methods.select { |_, method| method.defined_in == scope }
    own.map do |name, method|
      functions = method.method_types.map(&:type)
      Declared.new(scope.to_s.delete_prefix("::"), kind, name, functions)
    end
  end

  private_class_method :methods_of
end
