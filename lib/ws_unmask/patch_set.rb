# frozen_string_literal: true

require_relative "hook_watch"
require_relative "integration"

module WsUnmask
  # Patches to the classes of another library that can be taken back.
  #
  # A patch is a module. Its methods take the place of the library's own in the library's class,
  # which stay there under another name: +parse+ becomes +parse_without_ws_unmask+. Nothing is
  # prepended, so whatever is prepended, extended or chained with +alias_method+ later comes first
  # and works as it would without the patch. Methods named +ws_unmask_...+ are added; they help the
  # others.
  #
  # A class whose methods are not the library's own any more when the patches are to be installed is
  # left alone.
  #
  # Each integration makes one and installs it. With +WS_UNMASK_DISABLE=1+ in the environment, none
  # is installed.
  class PatchSet
    # How an integration's module is switched: it extends this, and has its {PatchSet} in +PATCHES+.
    module Switch
      # (see PatchSet#install)
      def install = self::PATCHES.install

      # (see PatchSet#uninstall)
      def uninstall = self::PATCHES.uninstall
    end

    # The library is not the one that the patches were made for.
    class Refused < StandardError; end

    # A method that has been replaced.
    Replaced = Struct.new(:target, :name, :original, :patched, :visibility)
    private_constant :Replaced

    ADDED = /\Aws_unmask_/
    VISIBILITIES = %i[public protected private].freeze
    private_constant :ADDED, :VISIBILITIES

    @all = []

    class << self
      # @return [Array<PatchSet>] those whose files have been required
      attr_reader :all
    end

    # @return [Integration]
    attr_reader :integration

    # @return [String, nil] why it could not be installed
    attr_reader :problem

    # @param integration [Integration]
    # @yield [self] when the library has been loaded, to call {#replace} and {#leave_out}
    def initialize(integration, &describe)
      @integration = integration
      @describe = describe
      @replaced = []
      @installed = false
      self.class.all << self
    end

    # @return [Symbol] the integration's name
    def name = integration.name

    # Replaces methods of a class. For the block that {#initialize} takes.
    # @param target [Module] a class of the library
    # @param patch [Module] whose methods replace those of +target+
    # @return [void]
    def replace(target, patch) = @patches << [target, patch]

    # Says that patches do not call these methods where the library does, so that they may do so
    # only as long as nobody hooks them. For the block that {#initialize} takes.
    # @param target [Module] a class of the library
    # @param names [Array<Symbol>]
    # @return [void]
    def leave_out(target, *names) = @left_out[target] = names

    # Installs it. If the library is not there, or is not the one that it was made for, it warns
    # (once) and leaves the library alone.
    # @return [Boolean] whether it is installed
    def install
      return installed? if installed? || ENV["WS_UNMASK_DISABLE"] == "1"

      integration.features.each { |feature| require feature }
      read_patches
      check
      apply
      @problem = nil
      @installed = true
    rescue StandardError, ScriptError => e
      @problem = reason(e)
      warn_once
      false
    end

    # Gives the library its own methods back. If somebody has wrapped one of them meanwhile, it
    # warns and does nothing, since what is wrapped would go on to be called.
    # @return [Boolean] whether it did anything
    def uninstall
      return false unless installed?

      wrapped = @replaced.find { |method| wrapped?(method) }
      if wrapped
        warn "ws_unmask: #{integration.file} stays installed: #{wrapped.target}##{wrapped.name} " \
             "has been redefined at #{place(own_method(wrapped))}"
        return false
      end

      @replaced.each do |method|
        define(method.target, method.name, method.original, method.visibility)
      end
      @installed = false
      true
    end

    # @return [Boolean] whether the library works with ws_unmask now
    def installed? = @installed

    # @param objects [Array<Object>] those whose own methods are looked at, too
    # @return [Boolean] whether nobody hooks a method that patches leave out
    def unhooked?(objects = [])
      @left_out.all? do |target, names|
        object = objects.find { |candidate| target === candidate } # rubocop:disable Style/CaseEquality
        names.all? do |name|
          method = object ? object.method(name) : target.instance_method(name)
          method.owner.equal?(target) && (librarys?(method) || ours?(method))
        end
      end
    rescue NameError
      false
    end

    private

    def read_patches
      @patches = []
      @left_out = {}
      @describe.call(self)
      @ours = @patches.flat_map do |_, patch|
        names_in(patch).map { |name| patch.instance_method(name).source_location }
      end
    end

    # All of them, before the first is replaced.
    def check
      @patches.each do |target, patch|
        names_in(patch).each do |name|
          if ADDED.match?(name)
            check_new(target, name)
          else
            check_own(target, name)
            check_arity(target, patch, name)
          end
        end
      end
      @left_out.each { |target, names| names.each { |name| check_own(target, name) } }
    end

    # That no version of the library has come to have a method of that name.
    def check_new(target, name)
      return unless target.method_defined?(name) || target.private_method_defined?(name)
      return if ours?(target.instance_method(name))

      raise Refused, "it has a method #{target}##{name} of its own"
    end

    def check_own(target, name)
      unless target.method_defined?(name) || target.private_method_defined?(name)
        raise Refused, "there is no #{target}##{name}"
      end

      method = target.instance_method(name)
      return if method.owner.equal?(target) && librarys?(method)

      raise Refused, "#{target}##{name} is not its own method any more, but one defined at " \
                     "#{place(method)}. Require #{integration.file} before that"
    end

    def check_arity(target, patch, name)
      arity = target.instance_method(name).arity
      expected = patch.instance_method(name).arity
      return if arity == expected || takes_anything?(patch.instance_method(name))

      raise Refused, "#{target}##{name} takes #{arity} arguments here, not #{expected}"
    end

    def takes_anything?(method) = method.parameters.first&.first == :rest

    # A method in C has no place.
    def librarys?(method)
      file, = method.source_location
      file.nil? || file.start_with?(*roots)
    end

    def ours?(method) = @ours.include?(method.source_location)

    # What the paths of the library's files begin with: .../websocket-driver-0.8.0/lib/websocket
    def roots
      @roots ||= integration.features.map do |feature|
        _, path = $LOAD_PATH.resolve_feature_path(feature)
        path.delete_suffix(File.extname(path)).delete_suffix(feature) + feature[%r{\A[^/]+}]
      end
    end

    def place(method)
      owner = method.owner
      location = method.source_location&.join(":")
      owner.name && location ? "#{location} (#{owner})" : location || owner.inspect
    end

    def apply
      @replaced = @patches.flat_map do |target, patch|
        added, replacing = names_in(patch).partition { |name| ADDED.match?(name) }
        added.each do |name|
          define(target, name, patch.instance_method(name), visibility(patch, name))
        end
        replacing.map { |name| replace_method(target, name, patch.instance_method(name)) }
      end
      @left_out.each_key { |target| HookWatch.watch(target) }
    end

    def replace_method(target, name, patched)
      original = target.instance_method(name)
      visibility = visibility(target, name)
      without = :"#{name}_without_ws_unmask"
      target.alias_method(without, name)
      target.send(:private, without)
      define(target, name, patched, visibility)
      Replaced.new(target, name, original, patched, visibility)
    end

    def define(target, name, method, visibility)
      target.define_method(name, method)
      target.send(visibility, name)
    end

    def names_in(patch)
      patch.instance_methods(false) + patch.private_instance_methods(false)
    end

    def visibility(owner, name)
      VISIBILITIES.find { |kind| owner.public_send(:"#{kind}_method_defined?", name) }
    end

    def wrapped?(method)
      own_method(method).source_location != method.patched.source_location
    end

    # That of the class itself, whatever is prepended to it.
    def own_method(replaced)
      method = replaced.target.instance_method(replaced.name)
      method = method.super_method until method.owner.equal?(replaced.target)
      method
    end

    def reason(error)
      case error
      when Refused then error.message
      when LoadError then missing?(error) ? missing : "it cannot be loaded: #{first_line(error)}"
      else "it cannot be patched: #{first_line(error)} (#{error.class})"
      end
    end

    def missing?(error) = integration.features.include?(error.path)

    def missing
      "it is not installed. Add it to the Gemfile, or do not require #{integration.file}"
    end

    # The other lines would be code of ours.
    def first_line(error) = error.message.lines.first.to_s.chomp

    def warn_once
      return if @has_warned

      @has_warned = true
      warn "ws_unmask: #{integration.gem_name} is left as it is: #{problem}"
    end
  end
end
