# frozen_string_literal: true

require "bundler"
require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

# Echo servers with other libraries, each in a folder of echo_servers/ with its pinned dependencies.
# They are built in tmp/echo; those that do not build are skipped, with a message.
module EchoServers
  # A Proc that takes the port and returns the command; what it sends back: :plain for the bytes as
  # they are, :cable for Action Cable's JSON.
  Server = Struct.new(:name, :command, :kind)

  # It is not installed, and cannot be.
  NotHere = Class.new(StandardError)

  FOLDER = File.expand_path("echo_servers", __dir__)
  TMP = File.expand_path("../tmp/echo", __dir__)
  CRATES = "#{FOLDER}/rust".freeze
  private_constant :NotHere, :FOLDER, :TMP, :CRATES

  # @return [String] the path of the load generator
  def self.load_generator
    cargo("build", "--quiet", "--release", "--target-dir", "#{TMP}/rust")
    "#{TMP}/rust/release/load"
  end

  # @return [Array<Server>]
  def self.all
    %i[rust cpp node go iodine python].flat_map do |kind|
      send(kind)
    rescue NotHere => e
      puts "skipped: #{e.message}"
      []
    end
  end

  def self.rust
    load_generator
    { "tokio_tungstenite" => "tokio-tungstenite", "fastwebsockets" => "fastwebsockets" }
      .flat_map do |binary, name|
        program = "#{TMP}/rust/release/#{binary}"
        name = "Rust, #{name} #{crate(name)["version"]}"
        [server(name, program), server("#{name}, batched", program, after: ["batched"])]
      end
  end

  # Its source comes with a crate, which is not built.
  def self.cpp
    source = "#{File.dirname(crate("libuwebsockets-sys")["manifest_path"])}/uWebSockets"
    sockets = "#{source}/uSockets/src"
    options = %W[-O3 -flto=auto -DLIBUS_NO_SSL -DUWS_NO_ZLIB -I#{sockets} -I#{source}/src]
    program = "#{TMP}/uwebsockets"
    unless File.exist?(program)
      Dir.mktmpdir do |folder|
        run("uWebSockets", "gcc", *options, "-c", *Dir["#{sockets}/*.c"],
            "#{sockets}/eventing/epoll_kqueue.c", chdir: folder)
        run("uWebSockets", "g++", "-std=c++20", *options, "#{FOLDER}/cpp/uwebsockets.cpp",
            *Dir["#{folder}/*.o"], "-o", program)
      end
    end
    [server("C++, uWebSockets", program)]
  end

  def self.node
    folder = "#{TMP}/node"
    install("node", "package.json", "package-lock.json") do
      run("ws", "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", chdir: folder)
    end
    version = JSON.parse(File.read("#{folder}/node_modules/ws/package.json"))["version"]
    command = ["env", "NODE_PATH=#{folder}/node_modules", "node", "#{FOLDER}/node/echo.js"]
    [server("Node, ws #{version}", *command),
     server("Node, ws #{version}, batched", *command, after: ["batched"])]
  end

  def self.go
    program = "#{TMP}/gorilla"
    run("gorilla/websocket", "go", "build", "-o", program, ".", chdir: "#{FOLDER}/go")
    version = File.read("#{FOLDER}/go/go.mod")[%r{gorilla/websocket v(\S+)}, 1]
    [server("Go, gorilla/websocket #{version}", program)]
  end

  def self.iodine
    version = "0.7.59"
    ruby = ["env", "GEM_PATH=#{[*Gem.path, "#{TMP}/gems"].join(":")}", RbConfig.ruby]
    gem = "gem 'iodine', '#{version}'"
    unless succeeds?(*ruby, "-e", gem)
      run("iodine", RbConfig.ruby, "-S", "gem", "install", "--no-document", "--install-dir",
          "#{TMP}/gems", "iodine:#{version}")
    end
    name = "C and Ruby, iodine #{version}"
    [server(name, *ruby, "#{FOLDER}/ruby/iodine_echo.rb").tap { |it| it.kind = :fragments }]
  end

  def self.python
    python = "#{TMP}/python/bin/python"
    install("python", "requirements.txt") do
      run("Python", "python3", "-m", "venv", "#{TMP}/python")
      run("websockets and picows", python, "-m", "pip", "install", "--quiet", "-r",
          "#{FOLDER}/python/requirements.txt")
    end
    versions = File.read("#{FOLDER}/python/requirements.txt").scan(/^(\w+)==(\S+)/).to_h
    %w[websockets picows].map do |name|
      server("Python, #{name} #{versions[name]}", python, "#{FOLDER}/python/with_#{name}.py")
    end
  end

  # Without Bundler, which knows nothing of it.
  def self.server(name, *command, after: [])
    Server.new(name, ->(port) { ["env", *without_bundler, *command, port.to_s, *after] })
  end

  def self.without_bundler
    ENV.keys.grep(/\ABUNDLE/).flat_map { |name| ["-u", name] } <<
      "RUBYOPT=#{Bundler.unbundled_env["RUBYOPT"]}"
  end

  # Calls the block in TMP/name unless these files are what was installed there.
  def self.install(name, *files)
    folder = "#{TMP}/#{name}"
    FileUtils.mkdir_p(folder)
    return if files.all? { |file| same?("#{FOLDER}/#{name}/#{file}", "#{folder}/#{file}") }

    files[..-2].each { |file| FileUtils.cp("#{FOLDER}/#{name}/#{file}", folder) }
    FileUtils.cp("#{FOLDER}/#{name}/#{files.last}", folder)
    yield
  end

  def self.same?(file, installed)
    File.exist?(installed) && FileUtils.identical?(file, installed)
  end

  def self.crate(name)
    @crates ||= JSON.parse(cargo("metadata", "--all-features", "--format-version", "1"))["packages"]
    @crates.find { |package| package["name"] == name }
  end

  def self.cargo(command, *arguments)
    run("Rust", "cargo", command, "--locked", "--manifest-path", "#{CRATES}/Cargo.toml",
        *arguments)
  end

  # @return [String] what was printed
  def self.run(what, *command, **options)
    output, error, status = Bundler.with_unbundled_env { Open3.capture3(*command, **options) }
    return output if status.success?

    raise NotHere, "#{what} (#{command.first(2).join(" ")}: #{error.lines.last.to_s.strip})"
  rescue Errno::ENOENT
    raise NotHere, "#{what} (#{command.first} is not installed)"
  end

  def self.succeeds?(*command)
    Bundler.with_unbundled_env { Open3.capture2e(*command).last.success? }
  end

  private_class_method(*singleton_methods(false) - %i[load_generator all])
end
