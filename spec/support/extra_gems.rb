# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"

# Gems that the specs and benchmarks can do without, and that are not in the Gemfile, since Debian
# has no packages of them: those in ../shared/ruby/gems, where there is such a folder, are installed
# into tmp/gems; else those that `gem install` has installed are used.
module ExtraGems
  ROOT = File.expand_path("../..", __dir__)
  FILES = File.join(ROOT, "../shared/ruby/gems")
  API = "#{RUBY_ENGINE}-#{RbConfig::CONFIG["ruby_version"]}".freeze
  INSTALLED = File.join(ROOT, "tmp/gems", API)
  private_constant :ROOT, :FILES, :API, :INSTALLED

  class << self
    # Puts a gem, but not what it depends on, on the load path, in front of other versions and
    # whatever Bundler says.
    # @param version [String, nil] nil for the newest
    # @return [Boolean] whether it is there
    def activate(name, version = nil)
      spec = find(name, version)
      return false unless spec

      $LOAD_PATH.unshift(*(spec.full_require_paths - $LOAD_PATH))
      Gem.loaded_specs[name] = spec
      true
    end

    private

    def find(name, version)
      name_and_version = "#{name}-#{version || "[0-9]*"}"
      file = newest("#{FILES}/#{name_and_version}.gem")
      install(file) if file
      found = [INSTALLED, *Gem.path].lazy.filter_map do |path|
        newest("#{path}/specifications/#{name_and_version}.gemspec")
      end.first
      found && Gem::Specification.load(found)
    end

    def newest(pattern)
      Dir[pattern].max_by { |path| Gem::Version.new(path[/-(\d[\w.]*)\.gem/, 1]) }
    end

    # Under a lock, since two processes may want the same gem at once.
    def install(file)
      installed = "#{INSTALLED}/specifications/#{File.basename(file)}spec"
      return if File.exist?(installed)

      FileUtils.mkdir_p(INSTALLED)
      File.open("#{INSTALLED}.lock", "w") do |lock|
        lock.flock(File::LOCK_EX)
        run_gem_install(file) unless File.exist?(installed)
      end
    end

    # Without Bundler, which would look into the Gemfile.
    def run_gem_install(file)
      output, status = Open3.capture2e(
        { "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil }, RbConfig.ruby, "-S", "gem", "install",
        "--local", "--force", "--ignore-dependencies", "--no-document", "--install-dir", INSTALLED,
        file
      )
      raise "#{File.basename(file)} cannot be installed:\n#{output}" unless status.success?
    end
  end
end
