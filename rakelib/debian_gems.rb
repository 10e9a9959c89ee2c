# frozen_string_literal: true

require "fileutils"
require "open3"
require "rubygems/package"
require "tmpdir"

# Gems for another Ruby on this machine, from the root of another Debian suite: gems in plain Ruby
# are used from there, gems with extensions are compiled from Debian's sources.
class DebianGems
  # The gems with extensions, and their source packages.
  SOURCES = { "bigdecimal" => "ruby3.3", "eventmachine" => "ruby-eventmachine",
              "http_parser.rb" => "ruby-http-parser.rb", "io-event" => "ruby-io-event",
              "nokogiri" => "ruby-nokogiri", "rbs" => "ruby3.3",
              "redcarpet" => "ruby-redcarpet", "stackprof" => "ruby-stackprof" }.freeze
  # Debian installs these among Ruby's own files, without a folder for each.
  SCATTERED = { "abbrev" => %w[abbrev.rb], "mutex_m" => %w[mutex_m.rb],
                "drb" => %w[drb drb.rb], "faye-websocket" => %w[faye],
                "racc" => %w[racc racc.rb], "useragent" => %w[user_agent user_agent.rb
                                                              useragent.rb] }.freeze
  # Gems in plain Ruby that do not load without a gem with an extension.
  NEEDED_BY = { "http_parser.rb" => "em-websocket" }.freeze
  # Debian's are for its own Ruby.
  COMMANDS = { "rake" => "rake", "rspec" => "rspec-core" }.freeze
  # Its HTML parser is compiled with it, not by a gem of its own.
  OPTIONS = { "nokogiri" => %w[-- --gumbo-dev] }.freeze
  APT = "apt-get -q=2 -o Dir::Etc::sourcelist=/tmp/sources.list " \
        "-o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root " \
        "-o Acquire::Check-Valid-Until=false"
  private_constant :SOURCES, :SCATTERED, :NEEDED_BY, :COMMANDS, :OPTIONS, :APT

  # @param root [String] the folder of that Debian
  # @param ruby [String] the folder of the other Ruby
  # @param folder [String] for the gems that have to be compiled
  def initialize(root, ruby, folder)
    @root = root
    @ruby = ruby
    @folder = folder
  end

  # @return [String] where the gems are, for GEM_PATH
  attr_reader :folder

  # @return [String] where the commands are, for PATH
  def bin = "#{@folder}/bin"

  # Compiles missing gems, and says which cannot be compiled.
  def install
    FileUtils.mkdir_p(%w[bin gems specifications].map { |name| "#{@folder}/#{name}" })
    SCATTERED.each { |name, files| gather(name, files) }
    COMMANDS.each { |name, gem| write_command(name, gem) }
    unless missing.empty?
      link_plain_gems # some of them compile others
      update_sources
      missing.each { |name| build(name) }
    end
    link_plain_gems
  end

  # @return [Array<String>] the gems that are not available
  def missing = SOURCES.keys.reject { |name| there?(name) }

  private

  def there?(name) = Dir["#{@folder}/specifications/#{name}-[0-9]*.gemspec"].any?

  # Those whose gems with extensions are available.
  def link_plain_gems
    left_out = NEEDED_BY.slice(*missing).values
    Dir["#{plain_gems}/gems/*"].each do |gem|
      name = File.basename(gem)
      gemspec = "#{plain_gems}/specifications/#{name}.gemspec"
      next if left_out.include?(name[/(.+)-/, 1]) || !File.exist?(gemspec)

      [gemspec, gem].zip(%w[specifications gems]).each do |target, kind|
        link = "#{@folder}/#{kind}/#{File.basename(target)}"
        next if File.exist?(link)

        FileUtils.rm_f(link) # which leads nowhere if the root has moved
        File.symlink(target, link)
      end
    end
  end

  def plain_gems = "#{@root}/usr/share/rubygems-integration/all"

  def gather(name, files)
    return if there?(name)

    gemspec = Dir["#{plain_gems}/specifications/#{name}-[0-9]*",
                  "#{@root}/usr/lib/ruby/gems/*/specifications/default/#{name}-[0-9]*"].first
    lib = "#{@folder}/gems/#{File.basename(gemspec, ".gemspec")}/lib"
    FileUtils.mkdir_p(lib)
    files.each do |file|
      FileUtils.ln_sf(Dir["#{@root}/usr/lib/ruby/{vendor_ruby,[0-9]*}/#{file}"].first, lib)
    end
    specification = Gem::Specification.load(gemspec)
    specification.extensions.clear # racc does without
    write(specification)
  end

  def write(specification)
    File.write("#{@folder}/specifications/#{specification.full_name}.gemspec",
               specification.to_ruby)
  end

  def write_command(name, gem)
    File.write("#{bin}/#{name}", <<~RUBY, perm: 0o755)
      #!#{@ruby}/bin/ruby
      load Gem.activate_bin_path("#{gem}", "#{name}")
    RUBY
  end

  def update_sources
    binary = File.read("#{@root}/etc/apt/sources.list")
    File.write("#{@root}/tmp/sources.list", binary.gsub(/^deb /, "deb-src "))
    in_root("#{APT} update")
  end

  def build(name)
    FileUtils.rm_rf(downloaded = "#{@root}/tmp/source")
    FileUtils.mkdir_p(downloaded)
    in_root("cd /tmp/source && #{APT} source --download-only #{SOURCES[name]}")
    archive = Dir["#{downloaded}/*.orig.tar.*"].reject { |file| file.end_with?(".asc") }.first
    return without_source(name) unless archive

    Dir.mktmpdir do |unpacked|
      system("tar", "-xf", archive, "-C", unpacked, exception: true)
      gemspec = Dir["#{unpacked}/*/{,ext/#{name}/,.bundle/gems/#{name}-*/}#{name}.gemspec"].first
      return puts("#{name} skipped: it does not compile") unless install_from(gemspec)
    end
    puts "compiling #{name} from Debian's source"
  end

  # io-event also works without its extension.
  def without_source(name)
    gem = Dir["#{@root}/usr/lib/*/rubygems-integration/*/gems/#{name}-[0-9]*"].first
    return puts("#{name} skipped: no source here") unless name == "io-event"

    puts "io-event: no source here, so it runs without its extension"
    FileUtils.mkdir_p("#{@folder}/gems/#{File.basename(gem)}")
    FileUtils.cp_r("#{gem}/lib", "#{@folder}/gems/#{File.basename(gem)}")
    specification = Gem::Specification.load("#{gem.sub("/gems/", "/specifications/")}.gemspec")
    specification.extensions.clear
    write(specification)
  end

  # Its gemspec lists files with git, and there is no repository here.
  def install_from(gemspec)
    script = <<~RUBY
      specification = Gem::Specification.load(ARGV[0])
      specification.files = Dir["**/*"].select { |file| File.file?(file) }
      specification.extensions.map! { |file| File.exist?(file) ? file : File.basename(file) }
      Gem::Package.build(specification, true, false, "built.gem")
    RUBY
    folder = File.dirname(gemspec)
    env = { "GEM_HOME" => @folder, "GEM_PATH" => @folder, "RUBYLIB" => nil,
            "NOKOGIRI_USE_SYSTEM_LIBRARIES" => "1" }
    [["-rrubygems/package", "-e", script, gemspec],
     ["-S", "gem", "install", "--local", "--force", "--ignore-dependencies", "--no-document",
      "built.gem", *OPTIONS[gemspec[%r{([^/]+)\.gemspec}, 1]]]].all? do |arguments|
      output, status = Open3.capture2e(env, "#{@ruby}/bin/ruby", *arguments, chdir: folder)
      puts output unless status.success?
      status.success?
    end
  end

  def in_root(command)
    system("chroot", @root, "sh", "-c", command, out: File::NULL, err: File::NULL)
  end
end
