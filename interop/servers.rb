# frozen_string_literal: true

require_relative "../examples/server"

# A server for the clients, in a separate process, always on the same port.
class InteropServer
  ROOT = File.expand_path("..", __dir__)
  # The root in which `rake matrix` has built ws_unmask with a newer Ruby and newer libraries.
  NEWER_DEBIAN = "#{ROOT}/tmp/roots/forky".freeze
  # This Ruby's Bundler is not that one's.
  NO_BUNDLER = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil }.freeze
  private_constant :ROOT, :NEWER_DEBIAN, :NO_BUNDLER

  # @return [String] the file, in this checkout
  attr_reader :name

  # @param gem [String, nil] without which it does not run
  # @param traits [Array<Symbol>] what {Checks} has to know of it
  def initialize(name, gem, *traits)
    @name = name
    @gem = gem
    @traits = traits
    @port = Server.free_port
  end

  def is?(trait) = @traits.include?(trait)

  def url = "ws://127.0.0.1:#{@port}/#{"cable" if is?(:action_cable)}"

  def available? = here? || there?

  def run
    start
    yield
  ensure
    stop
  end

  def restart
    stop
    start
  end

  private

  def here? = @gem.nil? || Gem::Specification.find_all_by_name(@gem).any?

  def there?
    Process.uid.zero? && File.exist?("#{NEWER_DEBIAN}/ws_unmask/lib/ws_unmask/ws_unmask.so") &&
      File.exist?("#{NEWER_DEBIAN}/ws_unmask/#{name}")
  end

  def start
    reader, writer = IO.pipe
    @pid = spawn(*command, out: writer, err: writer, chdir: ROOT)
    writer.close
    Server.wait_for(@port, @pid, Thread.new { reader.read })
  end

  def stop
    Server.stop(@pid) if @pid
  end

  def command
    return [{ "RAILS_ENV" => "production" }, *Server.command(name, @port)] if here?

    [NO_BUNDLER, "chroot", NEWER_DEBIAN, "sh", "-c",
     "cd /ws_unmask && exec ruby -Ilib #{name} #{@port}"]
  end

  ALL = [
    new("examples/echo.ru", "puma", :connection, :compresses),
    new("examples/echo_nio4r.rb", "nio4r", :connection, :compresses),
    new("examples/echo_async.rb", "async", :connection, :compresses),
    new("interop/servers/connection.rb", nil, :connection, :compresses, :obeys, :pings),
    new("examples/faye_echo.ru", "faye-websocket", :websocket_driver),
    new("examples/action_cable/config.ru", "actioncable", :websocket_driver, :action_cable),
    new("interop/servers/async_websocket.rb", "async-websocket", :obeys, :compresses)
  ].freeze
end
