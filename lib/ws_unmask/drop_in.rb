# frozen_string_literal: true

module WsUnmask
  # Modules that are prepended to another library's classes, and can be taken out again.
  #
  # Each drop-in's file makes one and installs it. With +WS_UNMASK_DISABLE=1+ in the environment,
  # none is installed.
  class DropIn
    # How a drop-in's module is switched: it extends this, and has its {DropIn} in +DROP_IN+.
    module Switch
      # (see DropIn#install)
      def install = self::DROP_IN.install

      # (see DropIn#uninstall)
      def uninstall = self::DROP_IN.uninstall
    end

    @all = []

    class << self
      # @return [Array<DropIn>] those whose files have been required
      attr_reader :all
    end

    # @return [Symbol] the name of its file: +require "ws_unmask/NAME"+
    attr_reader :name

    # @param name [Symbol]
    # @param library [String] what to require for the library that is patched
    # @yieldreturn [Hash{Module => Module}, Array<(Module, Module)>] each class of the library that
    #   is patched, with the module whose methods replace those of the class; called when the
    #   library has been loaded
    def initialize(name, library:, &patches)
      @name = name
      @library = library
      @patches = patches
      @installed = false
      self.class.all << self
    end

    # Installs it. If the library is not there, or has not the methods that are to be replaced, with
    # the arguments that are expected, it warns (once) and leaves the library alone.
    # @return [Boolean] whether it is installed
    def install
      return installed? if installed? || ENV["WS_UNMASK_DISABLE"] == "1"

      @methods ? put_methods_back : prepend_modules
      @installed = true
    rescue LoadError, NameError => e
      # The rest of the message would be the line of ours that raised.
      warn "ws_unmask: #{name} is not installed: #{e.message.lines.first.chomp}" unless @has_warned
      @has_warned = true
      false
    end

    # Gives the library its own methods back.
    # @return [Boolean] whether there was anything to do
    def uninstall
      return false unless installed?

      @methods.each { |patch, name| patch.remove_method(name) }
      @installed = false
      true
    end

    # @return [Boolean] whether the library works with ws_unmask now
    def installed? = @installed

    private

    def prepend_modules
      require @library
      patches = @patches.call
      check(patches)
      patches.each { |target, patch| target.prepend(patch) }
      @methods = patches.flat_map do |_, patch|
        names_in(patch).map do |name|
          [patch, name, patch.instance_method(name), visibility(patch, name)]
        end
      end
    end

    def visibility(patch, name)
      %i[public protected private]
        .find { |kind| patch.public_send(:"#{kind}_method_defined?", name) }
    end

    def names_in(patch)
      patch.instance_methods(false) + patch.private_instance_methods(false)
    end

    # All of them, before the first is prepended.
    def check(patches)
      patches.each do |target, patch|
        names_in(patch).each do |name|
          arity = target.instance_method(name).arity
          expected = patch.instance_method(name).arity
          next if arity == expected

          raise NameError, "#{target}##{name} takes #{arity} arguments here, not #{expected}"
        end
      end
    end

    def put_methods_back
      @methods.each do |patch, name, method, visibility|
        patch.define_method(name, method)
        patch.send(visibility, name)
      end
    end
  end
end
