# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

# The gem as users get it: built, installed where nothing else is, and used from an empty folder.
RSpec.describe "the source gem" do
  def run(*command, **options)
    output, status = Open3.capture2e(*command, **options)
    raise "#{command.join(" ")} failed:\n#{output}" unless status.success?

    output
  end

  # The compiled dependencies are kept in the checkout, the package itself is always built anew.
  it "installs and works outside of the checkout" do
    Dir.mktmpdir do |folder|
      gem = File.join(folder, "ws_unmask.gem")
      root = File.expand_path("..", __dir__)
      gem_command = [RbConfig.ruby, "-S", "gem"]
      Bundler.with_unbundled_env do
        run(*gem_command, "build", "ws_unmask.gemspec", "--output", gem, chdir: root)
        home = File.join(folder, "home")
        run({ "CARGO_TARGET_DIR" => File.join(root, "target/package") }, *gem_command, "install",
            "--local", "--no-document", "--ignore-dependencies", "--install-dir", home, gem)
        empty = File.join(folder, "empty")
        Dir.mkdir(empty)
        script = 'require "ws_unmask"; print WsUnmask.unmask("\x7f\x9f".b, "7\xfa!=".b), ' \
                 "$LOADED_FEATURES.grep(/ws_unmask/)"
        path = [home, *Gem.path].join(File::PATH_SEPARATOR)
        output = run({ "GEM_HOME" => home, "GEM_PATH" => path }, RbConfig.ruby, "-e", script,
                     chdir: empty)
        expect(output).to start_with "He"
        expect(output).to include home
      end
    end
  end
end
