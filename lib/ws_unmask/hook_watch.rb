# frozen_string_literal: true

module WsUnmask
  # Detects when other code hooks methods of a library, so that a patch that bypasses them can check
  # again.
  module HookWatch
    @changes = 0

    class << self
      # @return [Integer] how often something has changed so far
      attr_reader :changes

      # @return [Integer]
      def changed = @changes += 1
    end

    # @param target [Module] whose methods are bypassed
    # @return [void]
    def self.watch(target)
      target.extend(OfClass)
      target.include(target.singleton_class? ? OfSingletonClass : OfObject)
      changed
    end

    # @param modules [Array<Module>] of others, which may get methods later
    # @return [void]
    def self.watch_modules(modules)
      modules.each do |watched|
        watched.extend(OfClass) unless watched.singleton_class.include?(OfClass)
      end
    end

    # For a class whose methods are bypassed.
    module OfClass
      # Prepends as usual, and records the change.
      # @return [self]
      def prepend(*) = super.tap { HookWatch.changed }

      # Records the change.
      # @return [self]
      def include(*) = super.tap { HookWatch.changed }

      private

      def method_added(name)
        HookWatch.changed
        super
      end
    end

    # For the object of a singleton class whose methods are bypassed.
    module OfSingletonClass
      private

      def singleton_method_added(name)
        HookWatch.changed
        super
      end
    end

    # For the objects of a class whose methods are bypassed.
    module OfObject
      # Extends as usual, and records the change.
      # @return [self]
      def extend(*) = super.tap { @ws_unmask_changes = nil }

      private

      def singleton_method_added(name)
        @ws_unmask_changes = nil
        super
      end

      # Cheap enough to be called for every message.
      # @return [Boolean] whether no method that the patches bypass is hooked here
      def ws_unmask_unhooked?(patches)
        changes = HookWatch.changes
        return @ws_unmask_unhooked if @ws_unmask_changes == changes

        @ws_unmask_changes = changes
        @ws_unmask_unhooked = patches.unhooked?([self])
      end
    end
  end
  private_constant :HookWatch
end
