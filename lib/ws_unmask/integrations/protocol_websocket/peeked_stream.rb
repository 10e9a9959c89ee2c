# frozen_string_literal: true

module WsUnmask
  module ProtocolWebSocket
    # The streams whose +peek+ yields their own buffer, so that bytes removed from it count as read:
    # those of io-stream.
    module PeekedStream
      OWNERS = %w[IO::Stream::Readable IO::Stream::Generic].freeze
      FILES = %r{/io/stream/[^/]+\.rb\z}
      private_constant :OWNERS, :FILES

      # @param stream [Object]
      # @return [Boolean] whether it is one, and its methods for reading are not hooked
      def self.one?(stream)
        methods = %i[peek read].map { |name| stream.method(name) }
        HookWatch.watch_modules([stream.class, *methods.map(&:owner)])
        methods.all? { |method| librarys?(method) } &&
          stream.peek { true }.equal?(stream.peek { true })
      rescue NameError
        false
      end

      def self.librarys?(method)
        OWNERS.include?(method.owner.name) && FILES.match?(method.source_location&.first.to_s)
      end
      private_class_method :librarys?
    end
  end
end
