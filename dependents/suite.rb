# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "timeout"
require_relative "../lib/ws_unmask/integration"

# The tests of a library that ws_unmask changes, or of one that stands on it: from a folder, or from
# a git repository with a tag for each version.
class Suite
  HERE = __dir__
  LIB = File.expand_path("../lib", __dir__)
  COPIES = File.expand_path("../tmp/dependents", __dir__)
  SECONDS = 120
  private_constant :HERE, :LIB, :COPIES, :SECONDS

  # The result of a run: the status of each example, or why there is none; and the other output.
  Run = Struct.new(:results, :said, keyword_init: true)

  attr_reader :name

  # @param name [String] of the repository, and of the folder in the folder of dependents
  # @param integration [Symbol]
  # @param since [String] the oldest version that is tried
  # @param within [String] the folder of the tests' library in the repository
  # @param paths [Array<String>] what of a large repository is needed
  # @param patches [Boolean] whether only the newest version of each x.y is tried
  def initialize(name, integration, since:, within: ".", paths: [], patches: true)
    @name = name
    @integration = WsUnmask::Integration.find(integration)
    @since = Gem::Version.new(since)
    @within = within
    @paths = paths
    @patches = patches
  end

  # @param dependents [String] the folder with the repositories
  # @return [Array<String, nil>] tags, the newest first; nil alone for a folder as it is
  def versions(dependents)
    folder = File.join(dependents, name)
    return [nil] unless File.exist?("#{folder}/.git")

    tags = `git -C #{folder} tag`.split.grep(/\Av?\d+(\.\d+)+\z/)
    tags = tags.to_h { |tag| [Gem::Version.new(tag.delete_prefix("v")), tag] }
    tags = tags.select { |version, _| version >= @since }.sort.reverse.to_h
    return tags.values if @patches

    tags.group_by { |version, _| version.segments.first(2) }.map { |_, newest| newest.first.last }
  end

  # @return [String] the folder with that version's files
  def check_out(dependents, version)
    source = File.expand_path(name, dependents)
    return source unless version

    copy = "#{COPIES}/#{name}-#{version}"
    unless File.exist?(copy)
      FileUtils.mkdir_p(copy)
      Open3.pipeline(["git", "-C", source, "archive", version, *@paths], ["tar", "-x", "-C", copy])
    end
    copy
  end

  # Runs it once, in a separate process.
  # @param libraries [Array<String>] folders to load from, besides its own
  # @return [Run]
  def run(copy, libraries, with_ours:)
    folder = File.expand_path(@within, copy)
    file = "#{copy}/results.json"
    FileUtils.rm_f(file)
    own = [*@paths.map { |path| "#{copy}/#{path}/lib" },
           *%w[lib spec test fixtures].map { |path| "#{folder}/#{path}" }]
    options = ["#{HERE}/stubs", *own, *libraries].map { |path| "-I#{path}" }
    # What a drop-in loads, or else a test that forgets to require it would fail only without.
    options.concat(@integration.features.map { |feature| "-r#{feature}" })
    options.push("-I#{LIB}", "-r#{HERE}/with_ours", "-r#{@integration.file}") if with_ours
    said = execute([RbConfig.ruby, "-W0", *options, "#{HERE}/#{runner(folder)}", file], folder)
    results = File.exist?(file) ? JSON.parse(File.read(file)) : {}
    Run.new(results:, said:)
  end

  private

  def runner(folder)
    return "run_rspec.rb" if File.exist?("#{folder}/spec")

    Dir["#{folder}/test/**/*_test.rb"].any? ? "run_minitest.rb" : "run_sus.rb"
  end

  def execute(command, folder)
    reader, writer = IO.pipe
    pid = spawn({ "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil }, *command,
                out: writer, err: writer, in: File::NULL, chdir: folder, pgroup: true)
    writer.close
    Timeout.timeout(SECONDS) { reader.read }
  rescue Timeout::Error
    "no end within #{SECONDS} seconds"
  ensure
    stop(pid)
  end

  def stop(pid)
    Process.kill(:KILL, -pid)
  rescue Errno::ESRCH
    nil # it has ended
  ensure
    Process.wait(pid)
  end

  # The parts of Rails that Action Cable's tests load.
  RAILS = %w[actioncable actionpack actionview activejob activemodel activesupport railties
             tools].freeze
  private_constant :RAILS

  ALL = [
    new("websocket-driver-ruby", :websocket_driver, since: "0.6.3"),
    new("faye-websocket-ruby", :websocket_driver, since: "0.10.0"),
    new("rails", :websocket_driver, since: "6.1", within: "actioncable", paths: RAILS,
                                    patches: false),
    new("protocol-websocket", :protocol_websocket, since: "0.4.0"),
    new("async-websocket", :protocol_websocket, since: "0.10.0"),
    new("websocket-ruby", :websocket, since: "1.2.6"),
    new("em-websocket", :em_websocket, since: "0.3.7")
  ].freeze
end
