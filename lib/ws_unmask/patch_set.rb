# frozen_string_literal: true

require_relative "hook_watch"
require_relative "integration"

module WsUnmask
  # Patches to the classes of another library that can be removed again.
  #
  # A patch is a module. Its methods replace those of the library's class, which stay available
  # under another name: +parse+ becomes +parse_without_ws_unmask+. Nothing is prepended, so whatever
  # is prepended, extended or chained with +alias_method+ later takes precedence, and works as
  # without the patch. Helper methods named +ws_unmask_...+ are added.
  #
  # If another library has already changed the methods to be replaced, nothing is installed.
  #
  # Each integration creates one and installs it. With +WS_UNMASK_DISABLE=1+ in the environment,
  # none is installed.
  class PatchSet
    # +install+ and +uninstall+ for an integration's module, which has its {PatchSet} in +PATCHES+.
    module Switch
      # (see PatchSet#install)
      def install = self::PATCHES.install

      # (see PatchSet#uninstall)
      def uninstall = self::PATCHES.uninstall
    end

    # The patches were not written for this version of the library.
    class Refused < StandardError; end

    # A method that has been replaced.
    Replaced = Struct.new(:target, :name, :original, :patched, :visibility)
    private_constant :Replaced

    ADDED = /\Aws_unmask_/
    VISIBILITIES = %i[public protected private].freeze
    NOT_INSTALLED = "it is not installed"
    private_constant :ADDED, :VISIBILITIES, :NOT_INSTALLED

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

    # Declares methods of the library that the patches bypass. This is correct only as long as no
    # other code hooks them. For the block that {#initialize} takes.
    # @param target [Module] a class of the library
    # @param names [Array<Symbol>]
    # @param inherited [Hash{Module => Array<Symbol>}] methods that it inherits, so that overriding
    #   one is noticed, too
    # @return [void]
    def leave_out(target, *names, inherited: {})
      @left_out[target] = { target => names }.merge(inherited)
    end

    # Installs it. If the library is missing, or of a version that the patches were not written for,
    # it warns once and leaves the library unchanged.
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

    # Restores the library's own methods. If one of them has been wrapped in the meantime, it warns
    # and does nothing, since the wrapper would still call the patch.
    # @return [Boolean] whether it did anything
    def uninstall
      return false unless installed?

      wrapped = @replaced.find { |method| wrapped?(method) }
      if wrapped
        warn "ws_unmask: #{integration.file} stays installed: #{wrapped.target}##{wrapped.name} " \
             "has been redefined at #{location(own_method(wrapped))}"
        return false
      end

      @replaced.each do |method|
        define(method.target, method.name, method.original, method.visibility)
      end
      @installed = false
      true
    end

    # @return [Boolean] whether the patches are active
    def installed? = @installed

    # @param objects [Array<Object>] whose singleton methods are checked, too
    # @return [Boolean] whether no method that the patches bypass is hooked
    def unhooked?(objects = [])
      classes_unhooked? && objects.all? do |object|
        @left_out.all? do |target, owners|
          !(target === object) || # rubocop:disable Style/CaseEquality
            all_owned?(owners) { |name| object.method(name) }
        end
      end
    rescue NameError
      false
    end

    private

    # Checks again only after a change, since there may be many objects.
    def classes_unhooked?
      return @classes_unhooked if @changes == HookWatch.changes

      @ancestors.each { |target, known| HookWatch.watch_modules(ancestors_of(target) - known) }
      @changes = HookWatch.changes
      @classes_unhooked = false
      @classes_unhooked = @left_out.all? do |target, owners|
        all_owned?(owners) { |name| target.instance_method(name) }
      end
    end

    def all_owned?(owners)
      owners.all? { |owner, names| names.all? { |name| owned?(owner, yield(name)) } }
    end

    def owned?(owner, method)
      method.owner.equal?(owner) && (librarys?(method) || ours?(method))
    end

    def read_patches
      @patches = []
      @left_out = {}
      @describe.call(self)
      @ours = @patches.flat_map do |_, patch|
        names_in(patch).map { |name| patch.instance_method(name).source_location }
      end
    end

    # Checks all of them before the first is replaced.
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
      @left_out.each do |target, owners|
        owners.each { |owner, names| names.each { |name| check_own(target, name, owner) } }
      end
    end

    # A later version of the library might define a method of that name.
    def check_new(target, name)
      return unless target.method_defined?(name) || target.private_method_defined?(name)
      return if ours?(target.instance_method(name))

      raise Refused, "it already has a method #{target}##{name}"
    end

    def check_own(target, name, owner = target)
      unless target.method_defined?(name) || target.private_method_defined?(name)
        raise Refused, "it has no method #{target}##{name}"
      end

      method = target.instance_method(name)
      return if method.owner.equal?(owner) && librarys?(method)

      raise Refused, "#{target}##{name} has been redefined at #{location(method)}. Require " \
                     "#{integration.file} before that"
    end

    def check_arity(target, patch, name)
      arity = target.instance_method(name).arity
      expected = patch.instance_method(name).arity
      return if arity == expected || takes_anything?(patch.instance_method(name))

      raise Refused, "#{target}##{name} takes #{arity} arguments here, not #{expected}"
    end

    def takes_anything?(method) = method.parameters.first&.first == :rest

    # A method in C has no source location.
    def librarys?(method)
      file, = method.source_location
      file.nil? || file.start_with?(*roots)
    end

    def ours?(method) = @ours.include?(method.source_location)

    # The prefixes of the library's files: .../websocket-driver-0.8.0/lib/websocket
    def roots
      @roots ||= integration.features.map do |feature|
        _, path = $LOAD_PATH.resolve_feature_path(feature)
        path.delete_suffix(File.extname(path)).delete_suffix(feature) + feature[%r{\A[^/]+}]
      end
    end

    def location(method)
      owner = method.owner
      line = method.source_location&.join(":")
      owner.name && line ? "#{line} (#{owner})" : line || owner.inspect
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
      @ancestors = @left_out.keys.to_h { |target| [target, ancestors_of(target)] }
    end

    def ancestors_of(target)
      target.ancestors.take_while { |ancestor| !ancestor.equal?(Object) }
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

    # The method of the class itself, ignoring prepended modules.
    def own_method(replaced)
      method = replaced.target.instance_method(replaced.name)
      method = method.super_method until method.owner.equal?(replaced.target)
      method
    end

    def reason(error)
      case error
      when Refused then error.message
      when LoadError
        missing?(error) ? NOT_INSTALLED : "it cannot be loaded: #{first_line(error)}"
      else "it cannot be patched: #{first_line(error)} (#{error.class})"
      end
    end

    def missing?(error) = integration.features.include?(error.path)

    # The other lines are a backtrace of our own code.
    def first_line(error) = error.message.lines.first.to_s.chomp

    def warn_once
      return if @has_warned

      @has_warned = true
      warn "ws_unmask: #{warning}"
    end

    # Says which library has the problem, what the consequence is, and what to do.
    def warning
      name = integration.gem_name
      if problem == NOT_INSTALLED
        "#{name} is not installed, so #{integration.file} does nothing. Add gem \"#{name}\" to " \
          "the Gemfile, or remove the require of #{integration.file}"
      else
        "#{name} runs without ws_unmask, since #{problem}"
      end
    end
  end
end
