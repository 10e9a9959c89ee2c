# frozen_string_literal: true

require "optparse"
require_relative "../ws_unmask"

module WsUnmask
  # The command +ws_unmask+.
  class CLI
    autoload :Decode, "ws_unmask/cli/decode"
    autoload :Doctor, "ws_unmask/cli/doctor"

    # No errors.
    OK = 0
    # +decode+ found a protocol violation or an incomplete frame; +doctor+ found an integration that
    # does not work with the installed library.
    FOUND = 1
    # Unknown command or option, or a file that cannot be read.
    USAGE = 2
    # Reading or writing failed.
    FAILED = 3

    HELP = <<~TEXT
      Usage: ws_unmask doctor [options]
             ws_unmask decode [options] FILE
             ws_unmask help [COMMAND]

      doctor  shows which libraries ws_unmask speeds up here, and measures by how much
      decode  shows the frames of a captured byte stream, and where it violates the protocol

    TEXT

    # The usage of each command, and its number of arguments.
    COMMANDS = {
      "doctor" => [<<~TEXT, 0],
        Usage: ws_unmask doctor [options]

        Shows which libraries ws_unmask can speed up, whether their versions are tested, and the
        line for the Gemfile. Then measures them with and without ws_unmask, for two seconds.

        Exit status: 0 no errors; 1 an integration does not work with the installed library;
        2 wrong usage.

      TEXT
      "decode" => [<<~TEXT, 1]
        Usage: ws_unmask decode [options] FILE

        FILE contains the bytes that one side of a connection sent after the handshake, or their
        hexadecimal digits; - is standard input. Prints a line per frame: its offset in bytes, type,
        flags, the size of its payload, and the beginning of the payload.

        Exit status: 0 no errors; 1 a protocol violation or an incomplete frame; 2 wrong usage, FILE
        cannot be opened, or it begins with the HTTP handshake; 3 reading or writing failed.

      TEXT
    }.freeze
    private_constant :HELP, :COMMANDS

    # The command line is wrong.
    class UsageError < StandardError; end
    private_constant :UsageError

    # @param out [IO]
    # @param err [IO]
    # @param input [IO] the input for +-+
    def initialize(out: $stdout, err: $stderr, input: $stdin)
      @out = out
      @err = err
      @input = input
    end

    # @param arguments [Array<String>]
    # @return [Integer] the exit status: {OK}, {FOUND}, {USAGE} or {FAILED}
    def run(arguments)
      command, *rest = arguments
      case command
      when *COMMANDS.keys then run_command(command, rest)
      when "help", "-h", "--help" then help(rest.first)
      when "--version" then show("ws_unmask #{VERSION}")
      when nil then usage("no command given", nil)
      else usage("unknown command #{command}", nil)
      end
    rescue SystemCallError, IOError => e
      @err.puts "ws_unmask: #{e.message}"
      FAILED
    end

    private

    def run_command(command, rest)
      options = {}
      arguments = parser(command, options).parse(rest)
      return OK if options.delete(:shown)

      count = COMMANDS.fetch(command).last
      unless arguments.size == count
        raise UsageError, count.zero? ? "no arguments expected" : "one FILE expected"
      end

      command == "doctor" ? Doctor.new(@out, **options).run : decode(arguments.first, options)
    rescue OptionParser::ParseError, UsageError => e
      usage(e.message, command)
    end

    def parser(command, options)
      OptionParser.new(COMMANDS.fetch(command).first) do |parser|
        send(:"#{command}_options", parser, options)
        parser.on("-h", "--help", "show this help") { options[:shown] = show(parser) }
      end
    end

    def doctor_options(parser, options)
      parser.on("--json", "print one JSON object") { options[:json] = true }
      parser.on("--[no-]speed", "measure the speed (default) or skip that") { options[:speed] = _1 }
    end

    def decode_options(parser, options)
      parser.on("--json", "print one JSON object per line") { options[:json] = true }
      parser.on("--from SIDE", %w[client server],
                "which side sent the bytes: client (default) or server") do |side|
        options[:from] = side.to_sym
      end
      parser.on("--hex", "FILE contains hexadecimal digits") { options[:format] = :hex }
      parser.on("--raw", "FILE contains raw bytes") { options[:format] = :raw }
      parser.on("--allow-reserved BITS", /[123](?:,[123])*/,
                "accept these reserved bits: 1 for permessage-deflate") do |bits, *|
        options[:allow_reserved] = bits.split(",").map { |bit| Integer(bit) }
      end
      parser.on("--deflate", "inflate permessage-deflate messages of up to 64 MiB, " \
                             "and show each with its last frame") { options[:deflate] = true }
    end

    def decode(path, options)
      decode = Decode.new(@out, **options)
      return decode.run(@input.binmode) if path == "-"

      File.open(path, "rb") { |file| decode.run(file) }
    rescue Errno::ENOENT, Errno::EISDIR, Errno::EACCES => e
      raise UsageError, "#{path}: #{e.message[/\A[^@]+/].strip}"
    rescue Decode::InputError => e
      raise UsageError, e.message
    end

    def help(command)
      return show(HELP) if command.nil?
      return usage("unknown command #{command}", nil) unless COMMANDS.key?(command)

      show(parser(command, {}))
    end

    def show(text)
      @out.puts text
      OK
    end

    def usage(message, command)
      @err.puts "ws_unmask#{" #{command}" if command}: #{message}",
                "Try ws_unmask #{["help", command].compact.join(" ")}."
      USAGE
    end
  end
end
