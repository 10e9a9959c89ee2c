# frozen_string_literal: true

# Programs for other CPUs that run like those of this machine, by QEMU and the kernel's binfmt_misc.
# Needs root and, on Debian, qemu-user-static and binfmt-support.
module Emulator
  FOLDER = "/proc/sys/fs/binfmt_misc"
  private_constant :FOLDER

  # @param cpu [String] as QEMU calls it
  def self.enable(cpu)
    return if File.exist?("#{FOLDER}/qemu-#{cpu}")

    run("mount", "-t", "binfmt_misc", "binfmt_misc", FOLDER) unless
      File.exist?("#{FOLDER}/register")
    run("update-binfmts", "--enable", "qemu-#{cpu}")
  end

  def self.run(*command)
    system(*command) or raise "#{command.join(" ")} failed: this needs root, qemu-user-static " \
                              "and binfmt-support"
  end
  private_class_method :run
end
