# frozen_string_literal: true

require "json"
require "open3"

# The licenses of the crates in the binary of a precompiled gem, from Cargo's metadata and the
# crates' own files.
module ThirdParty
  FILE = "LICENSE-THIRD-PARTY"
  ROOT = File.expand_path("..", __dir__)
  # The platforms of the precompiled gems; the C library makes no difference.
  TARGETS = %w[x86_64 aarch64].product(%w[unknown-linux-gnu apple-darwin pc-windows-gnu])
                              .map { |parts| parts.join("-") } - ["aarch64-pc-windows-gnu"]
  private_constant :TARGETS

  HEAD = <<~TEXT
    The binaries of precompiled ws_unmask gems contain the Rust crates below and parts of Rust's
    standard library. `rake licenses` writes this file from Cargo's metadata.
  TEXT

  # @return [String] the content of the file
  def self.text
    [HEAD, *crates.map { |crate| section(crate) }, standard_library].join("\n")
  end

  # @return [Array<Hash>] the crates that are linked, as `cargo metadata` describes them
  def self.crates
    output, status = Open3.capture2("cargo", "metadata", "--locked", "--format-version", "1",
                                    *TARGETS.flat_map { |it| ["--filter-platform", it] },
                                    chdir: ROOT)
    raise "cargo metadata failed" unless status.success?

    metadata = JSON.parse(output)
    linked(metadata).reject { |crate| crate["source"].nil? }.sort_by { |crate| crate["name"] }
  end

  # Leaves out macros, and build and test dependencies, which are not linked.
  def self.linked(metadata)
    packages = metadata["packages"].to_h { |package| [package["id"], package] }
    nodes = metadata["resolve"]["nodes"].to_h { |node| [node["id"], node["deps"]] }
    found = packages.values.select { |package| package["name"] == "ws_unmask" }
    found.each do |package|
      nodes[package["id"]].each do |dependency|
        crate = packages[dependency["pkg"]]
        next unless dependency["dep_kinds"].any? { |kind| kind["kind"].nil? }
        next if found.include?(crate) || crate["targets"][0]["kind"] == ["proc-macro"]

        found << crate
      end
    end
  end

  # The MIT license, if there is a choice.
  def self.section(crate)
    folder = File.dirname(crate["manifest_path"])
    file = %w[LICENSE-MIT LICENSE LICENSE.txt LICENSE.md].map { |name| File.join(folder, name) }
                                                         .find { |path| File.exist?(path) }
    raise "#{crate["name"]} has no license file with a known name" unless file

    heading("#{crate["name"]} #{crate["version"]}", crate["license"], crate["repository"]) +
      "#{File.read(file, encoding: "UTF-8").gsub("\r\n", "\n").strip}\n"
  end

  # Not in the metadata. Its MIT license has the same text as ours.
  def self.standard_library
    head = heading("Rust's standard library", "MIT OR Apache-2.0",
                   "https://github.com/rust-lang/rust")
    text = File.read("#{ROOT}/LICENSE", encoding: "UTF-8")[/Permission is hereby granted.*/m]
    "#{head}Copyright (c) The Rust Project Contributors\n\n#{text}"
  end

  def self.heading(name, license, home)
    "#{"-" * 80}\n#{name} (#{license})\n#{home}\n\n"
  end

  private_class_method :linked, :section, :standard_library, :heading
end
