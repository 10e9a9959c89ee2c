# frozen_string_literal: true

require "ripper"
require "stringio"

# Runs an example of the documentation from standard input. Compares what a statement returns with
# the text after `# =>`, and what it prints with the text after `# prints`. Prints the differences.
class DocumentedExample
  PROMISE = / +# (?:=>|prints) /
  # The text after a comma is a comment.
  VALUE = /\A(?:\[.*\]|"(?:\\.|[^"])*"(?:\.b)?|[^,]+)/

  def initialize(code)
    @code = code
    @scope = Object.new.instance_eval { binding }
  end

  # @return [Array<String>] what is not as it says
  def problems = statements.filter_map { |statement| problem(statement) }

  private

  # Joins lines until they are complete Ruby.
  def statements
    @code.lines.each_with_object([+""]) do |line, found|
      found.last << line
      found << +"" if Ripper.sexp(found.last)
    end
  end

  def problem(statement)
    code, promise, expected = statement.rpartition(PROMISE)
    return @scope.eval(statement) && nil if promise.empty?
    return unexpected(statement, printed(code), expected) if promise.include?("prints")

    value = @scope.eval(expected[VALUE])
    result = @scope.eval(code)
    unexpected(statement, result, value) unless code.include?("simd_level") # of each machine
  end

  def printed(code)
    output = $stdout = StringIO.new
    @scope.eval(code)
    output.string
  ensure
    $stdout = STDOUT
  end

  def unexpected(statement, result, expected)
    "#{statement}: #{result.inspect}" unless result == expected
  end
end

problems = DocumentedExample.new($stdin.read).problems
puts problems
exit problems.empty?
