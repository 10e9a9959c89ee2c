# frozen_string_literal: true

require "fileutils"
require "open3"
require_relative "chromium"

# A client in a program of its own: it takes the URL and "plain" or "deflate" as arguments, reads
# the checks from its standard input, and prints a line for each result.
class ProgramClient
  # Longer than any single check takes.
  PATIENCE_SECONDS = 120
  private_constant :PATIENCE_SECONDS

  attr_reader :name

  def initialize(name, *command, deflate: false)
    @name = deflate ? "#{name}, compressed" : name
    @command = command
    @deflate = deflate
  end

  def takes?(server) = !@deflate || server.is?(:compresses)

  def checks(server, short:) = Checks.for(server, short:)

  # Yields each line that it prints.
  def run(url, checks, &)
    Open3.popen3(*@command, url, @deflate ? "deflate" : "plain") do |input, output, errors, process|
      said = Thread.new { errors.read }
      Thread.new { input.puts(checks) || input.close }
      read_lines(output, &)
    rescue Timeout::Error
      Process.kill(:KILL, process.pid)
      yield "fail: no result within #{PATIENCE_SECONDS} seconds"
    ensure
      yield "fail: #{said.value}" unless said.value.empty?
    end
  end

  private

  def read_lines(output)
    while (line = Timeout.timeout(PATIENCE_SECONDS) { output.gets(chomp: true) })
      yield line
    end
  end
end

# The clients, from the registries of their languages, as the files beside their code pin them.
module Clients
  SOURCES = File.expand_path("clients", __dir__)
  FOLDER = File.expand_path("../tmp/interop", __dir__)
  private_constant :SOURCES, :FOLDER

  # The commands that are needed, and those that build the clients.
  TOOLS = { "npm" => :javascript, "chromium" => :chromium, "python3" => :python, "go" => :go,
            "cargo" => :rust }.freeze
  private_constant :TOOLS

  module_function

  # Yields the clients that are not available, and why.
  # @return [Array] of clients
  def set_up
    FileUtils.mkdir_p(FOLDER)
    TOOLS.flat_map do |tool, clients|
      next send(clients) if system("which", tool, out: File::NULL)

      yield "#{tool} is not installed"
      []
    rescue RuntimeError => e
      yield e.message
      []
    end
  end

  def javascript
    folder = "#{FOLDER}/javascript"
    FileUtils.mkdir_p(folder)
    FileUtils.cp(Dir["#{SOURCES}/javascript/*"], folder)
    sh("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", chdir: folder)
    [*with_and_without("ws", "node", "#{folder}/ws.js"),
     ProgramClient.new("undici", "node", "#{folder}/undici.js")]
  end

  def chromium
    folder = "#{FOLDER}/javascript"
    cable = "#{folder}/node_modules/@rails/actioncable/app/assets/javascripts/actioncable.js"
    [ChromiumClient.new(folder),
     *(CableChromiumClient.new(folder, cable) if File.exist?(cable))]
  end

  def python
    python = "#{FOLDER}/python/bin/python"
    sh("python3", "-m", "venv", "#{FOLDER}/python") unless File.exist?(python)
    sh(python, "-m", "pip", "install", "--quiet", "-r", "#{SOURCES}/python/requirements.txt")
    %w[websockets aiohttp].flat_map do |library|
      with_and_without(library, python, "#{SOURCES}/python/#{library}_client.py")
    end
  end

  def go
    sh("go", "build", "-o", "#{FOLDER}/go/", ".", chdir: "#{SOURCES}/go")
    %w[gorilla coder].flat_map do |library|
      with_and_without("#{library}/websocket", "#{FOLDER}/go/interop", library)
    end
  end

  def rust
    target = "#{FOLDER}/rust"
    sh("cargo", "build", "--quiet", "--locked", "--target-dir", target, chdir: "#{SOURCES}/rust")
    [ProgramClient.new("tokio-tungstenite", "#{target}/debug/interop")]
  end

  def with_and_without(*words)
    [false, true].map { |deflate| ProgramClient.new(*words, deflate:) }
  end

  def sh(*command, chdir: ".")
    output, status = Open3.capture2e(*command, chdir:)
    raise "`#{command.join(" ")}` failed:\n#{output}" unless status.success?
  end
end
