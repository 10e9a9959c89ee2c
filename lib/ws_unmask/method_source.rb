# frozen_string_literal: true

require "digest"

module WsUnmask
  # Identifies the code of a library's methods, to tell whether a patch was written for them.
  module MethodSource
    # @param methods [Array<Method, UnboundMethod>] written in Ruby
    # @return [String, nil] a digest of their code, without comments, blank lines and the kind of
    #   quotation marks; nil if it cannot be read
    def self.digest(*methods)
      lines = methods.map { |method| lines_of(method) }
      Digest::SHA256.hexdigest(lines.join("\n"))[0, 16] if lines.all?
    end

    # From `def` to the `end` below it.
    def self.lines_of(method)
      file, number = method.source_location
      return unless file && File.file?(file)

      first, *others = File.readlines(file, chomp: true, encoding: "UTF-8").drop(number - 1)
      last = "#{first[/\A\s*/]}end"
      rest = others.take_while { |line| line.rstrip != last }
      return if rest.size == others.size

      [first, *rest].map { |line| line.strip.tr("'", '"') }
                    .reject { |line| line.empty? || line.start_with?("#") }
    end
    private_class_method :lines_of
  end
  private_constant :MethodSource
end
