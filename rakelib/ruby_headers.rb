# frozen_string_literal: true

require "fileutils"
require_relative "precompiled"

# The headers to compile an extension with, for a Ruby and a CPU without a Debian package. Ruby's
# configure generates them with a cross-compiler; nothing is run on that CPU.
class RubyHeaders
  # @param archive [String] Ruby's source, ruby-VERSION.tar.xz
  # @param platform [Precompiled::Platform]
  # @param sysroot [DebianRoot] of that platform
  def initialize(archive, platform, sysroot)
    @archive = archive
    @platform = platform
    @sysroot = sysroot
    @folder = File.expand_path("tmp/#{File.basename(archive, ".tar.xz")}-#{platform.name}")
  end

  # @return [String] the folder, laid out as an installed Ruby
  def make
    return @folder if File.exist?("#{@folder}/lib")

    @sysroot.make
    FileUtils.rm_rf(source = "#{@folder}/source")
    FileUtils.mkdir_p(source)
    system("tar", "-xf", @archive, "--strip-components=1", "-C", source, exception: true)
    configure(source)
    install(source)
    FileUtils.rm_rf(source)
    @folder
  end

  private

  def configure(source)
    FileUtils.touch("#{source}/gems/bundled_gems") # they are not in the archive
    tools = Precompiled.tools(mounts: { source => "/opt/source", @sysroot.root => "/opt/sysroot" })
    tools.run_bare("cd /opt/source && ./configure --host=#{@platform.gnu} " \
                   "--prefix=/opt/ruby --with-baseruby=/usr/bin/ruby --enable-shared " \
                   "--disable-yjit --disable-install-doc >configure.log && " \
                   "make rbconfig.rb >>configure.log",
                   env: { "CC" => "#{@platform.gnu}-gcc --sysroot=/opt/sysroot" })
  end

  def install(source)
    api = File.read("#{source}/rbconfig.rb")[/CONFIG\["ruby_version"\] = "(.+?)"/, 1]
    headers = Dir["#{source}/.ext/include/*"].first
    cpu = File.basename(headers)
    { "include/." => "include/ruby-#{api}",
      ".ext/include/#{cpu}/." => "include/ruby-#{api}/#{cpu}",
      "lib/mkmf.rb" => "lib/ruby/#{api}/mkmf.rb",
      "rbconfig.rb" => "lib/ruby/#{api}/#{cpu}/rbconfig.rb" }.each do |from, to|
      FileUtils.mkdir_p(File.dirname("#{@folder}/#{to}"))
      FileUtils.cp_r("#{source}/#{from}", "#{@folder}/#{to}")
    end
  end
end
