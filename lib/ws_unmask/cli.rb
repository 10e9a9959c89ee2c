# frozen_string_literal: true

require "optparse"
require_relative "../ws_unmask"

module WsUnmask
  # The command +ws_unmask+.
  class CLI
    autoload :Decode, "ws_unmask/cli/decode"
    autoload :Doctor, "ws_unmask/cli/doctor"

    # All is well.
    OK = 0
    # +decode+ found a protocol error or a frame that is cut; +doctor+ found a drop-in that does not
    # work with the library that is here.
    FOUND = 1
    # There is no such command, option or file.
    USAGE = 2

    HELP = <<~TEXT
      Usage: ws_unmask doctor [--json] [--no-speed]
             ws_unmask decode [options] FILE|-

      doctor: this Ruby, the SIMD level, the drop-ins, and how much faster the masks are undone
      decode: the frames of a captured byte stream, one a line, and what is wrong with it

      Exit status: 0 all is well; 1 decode found a protocol error or a frame that is cut, doctor a
      drop-in that does not work; 2 no such command, option or file.

    TEXT
    private_constant :HELP

    # @param out [IO]
    # @param err [IO]
    # @param input [IO] what is read for +-+
    def initialize(out: $stdout, err: $stderr, input: $stdin)
      @out = out
      @err = err
      @input = input
    end

    # @param arguments [Array<String>]
    # @return [Integer] the exit status: {OK}, {FOUND} or {USAGE}
    def run(arguments)
      options = {}
      command, *rest = parser(options).parse(arguments)
      return OK if options[:shown]

      case [command, rest.size]
      when ["doctor", 0] then Doctor.new(@out, **options.slice(:json, :speed)).run
      when ["decode", 1] then decode(rest.first, options)
      else usage("give a command: doctor, or decode with a file")
      end
    rescue OptionParser::ParseError, SystemCallError => e
      usage(e.message)
    end

    private

    def parser(options)
      OptionParser.new(HELP) do |parser|
        parser.on("--json", "one JSON object a line") { options[:json] = true }
        parser.on("--[no-]speed", "doctor: without the speed test") { options[:speed] = _1 }
        parser.on("--from PEER", %w[client server], "decode: who sent it (client)") do |peer|
          options[:from] = peer.to_sym
        end
        parser.on("--hex", "decode: the file has hexadecimal digits") { options[:format] = :hex }
        parser.on("--raw", "decode: the file has the bytes themselves") { options[:format] = :raw }
        parser.on("--allow-reserved BITS", /[123](?:,[123])*/,
                  "decode: reserved bits of extensions, e.g. 1") do |bits, *|
          options[:allow_reserved] = bits.split(",").map { |bit| Integer(bit) }
        end
        parser.on("--version") { options[:shown] = @out.puts("ws_unmask #{VERSION}") || true }
        parser.on("-h", "--help") { options[:shown] = @out.puts(parser) || true }
      end
    end

    def decode(path, options)
      bytes = path == "-" ? @input.binmode.read : File.binread(path)
      Decode.new(@out, **options.slice(:json, :from, :format, :allow_reserved)).run(bytes)
    rescue ArgumentError => e
      usage(e.message)
    end

    def usage(message)
      @err.puts "ws_unmask: #{message}", "Try ws_unmask --help."
      USAGE
    end
  end
end
