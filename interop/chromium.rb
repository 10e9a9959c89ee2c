# frozen_string_literal: true

require "json"
require "net/http"
require "socket"
require "tmpdir"
require "ws_unmask"

# Headless Chromium, and one page of it, which is told what to do over a connection of ws_unmask's
# own (with Chromium's DevTools Protocol).
class Chromium
  OPTIONS = %w[
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --remote-debugging-port=0
  ].freeze
  private_constant :OPTIONS

  def self.open
    Dir.mktmpdir do |folder|
      errors, writer = IO.pipe
      pid = spawn("chromium", *OPTIONS, "--user-data-dir=#{folder}", "about:blank",
                  out: File::NULL, err: writer, pgroup: true)
      writer.close
      port = errors.each_line.lazy.filter_map { |line| line[%r{ws://127.0.0.1:(\d+)/}, 1] }.first
      Thread.new { errors.read }
      yield new(port)
    ensure
      Process.kill(:KILL, -pid)
      Process.wait(pid)
    end
  end

  def initialize(port)
    pages = JSON.parse(Net::HTTP.get("127.0.0.1", "/json/list", port))
    url = pages.find { |page| page["type"] == "page" }.fetch("webSocketDebuggerUrl")
    @connection = WsUnmask::Connection.client(url)
    @socket = TCPSocket.new("127.0.0.1", port)
    @id = 0
    @messages = []
    read until @connection.open?
    command("Runtime.enable")
  end

  # Evaluates an expression, waits for its promise, and yields the lines that it logs meanwhile.
  def evaluate(expression, &)
    result = command("Runtime.evaluate", expression:, awaitPromise: true, &)
    error = result["exceptionDetails"] or return
    raise "Chromium: #{error.dig("exception", "description") || error}"
  end

  private

  def command(method, **params)
    @connection.text({ id: @id += 1, method:, params: }.to_json)
    loop do
      message = next_message
      return message.fetch("result") if message["id"] == @id
      next unless message["method"] == "Runtime.consoleAPICalled"

      yield message.dig("params", "args", 0, "value") if block_given?
    end
  end

  def next_message
    read while @messages.empty?
    @messages.shift
  end

  def read
    @connection.flush { |bytes| @socket.write(bytes) }
    @connection.receive(@socket.readpartial(64 * 1024)) do |type, payload|
      @messages << JSON.parse(payload) if type == :text
    end
  end
end

# The WebSocket of a page in Chromium. It always offers to compress.
class ChromiumClient
  PATIENCE_SECONDS = 600
  private_constant :PATIENCE_SECONDS

  # @param folder [String] with the checks in JavaScript
  def initialize(folder)
    @folder = folder
  end

  def name = "Chromium"

  def takes?(_server) = true

  def checks(server, short:) = Checks.for(server, short:)

  # Yields each line that it prints.
  def run(url, checks, &)
    Timeout.timeout(PATIENCE_SECONDS) do
      Chromium.open do |page|
        scripts.each { |script| page.evaluate(File.read(script)) }
        page.evaluate("new Checks(#{url.to_json}, #{connect}, (line) => console.log(line))" \
                      ".run(#{checks.to_json})", &)
      end
    end
  rescue Timeout::Error
    yield "fail: not done within #{PATIENCE_SECONDS} seconds"
  end

  private

  def scripts = ["#{@folder}/checks.js", "#{@folder}/websocket_api.js"]

  def connect = "connectWith(WebSocket)"
end

# A page in Chromium with @rails/actioncable.
class CableChromiumClient < ChromiumClient
  def initialize(folder, action_cable)
    super(folder)
    @action_cable = action_cable
  end

  def name = "Chromium, @rails/actioncable"

  def takes?(server) = server.is?(:action_cable)

  def checks(_server, short:) = Checks.for_cable_client(short:)

  private

  def scripts = ["#{@folder}/checks.js", @action_cable, "#{@folder}/action_cable.js"]

  def connect = "connectToCable"
end
