# frozen_string_literal: true

require "fileutils"

# Copies this checkout, so that another Ruby can build and test it.
module Checkout
  # Copies everything that git does not ignore, and keeps what has been built in the copy.
  # @param folder [String]
  def self.copy_to(folder)
    files = `git ls-files --cached --others --exclude-standard -z`.split("\0")
    files.select! { |file| File.file?(file) }
    before = Dir["#{folder}/{lib,spec,examples,docs}/**/*.{rb,ru,svg,json}"]
    FileUtils.rm(before - files.map { |file| "#{folder}/#{file}" })
    files.each do |file|
      target = "#{folder}/#{file}"
      next if File.exist?(target) && FileUtils.identical?(file, target)

      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.cp(file, target, preserve: true)
    end
  end
end
