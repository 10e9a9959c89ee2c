# frozen_string_literal: true

module WsUnmask
  # Notices that somebody hooks the methods of a library, so that a patch that leaves some of them
  # out can look again.
  module HookWatch
    @changes = 0

    class << self
      # @return [Integer] how often something has changed so far
      attr_reader :changes

      # @return [Integer]
      def changed = @changes += 1
    end

    # @param target [Module] whose methods are left out
    # @return [void]
    def self.watch(target)
      target.extend(OfClass)
      target.include(target.singleton_class? ? OfSingletonClass : OfObject)
      changed
    end

    # For a class whose methods are left out.
    module OfClass
      # Prepends as before, and is noticed.
      # @return [self]
      def prepend(*) = super.tap { HookWatch.changed }

      private

      def method_added(name)
        HookWatch.changed
        super
      end
    end

    # For a singleton class whose methods are left out: what its object is told.
    module OfSingletonClass
      private

      def singleton_method_added(name)
        HookWatch.changed
        super
      end
    end

    # For the objects of a class whose methods are left out.
    module OfObject
      # Extends as before, and is noticed.
      # @return [self]
      def extend(*) = super.tap { @ws_unmask_changes = nil }

      private

      def singleton_method_added(name)
        @ws_unmask_changes = nil
        super
      end

      # Cheap enough to be asked for every message.
      # @return [Boolean] whether no method that the patches leave out is hooked here
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
