# frozen_string_literal: true

# Runs programs for other CPUs directly, with QEMU and the kernel's binfmt_misc.
# Needs root and, on Debian, qemu-user-static and binfmt-support.
module Emulator
  FOLDER = "/proc/sys/fs/binfmt_misc"
  private_constant :FOLDER

  # @param cpu [String] as QEMU calls it
  # @return [Boolean] whether its programs run here
  def self.enable(cpu)
    return true if File.exist?("#{FOLDER}/qemu-#{cpu}")

    unless File.exist?("#{FOLDER}/register")
      system("mount", "-t", "binfmt_misc", "binfmt_misc", FOLDER, err: File::NULL)
    end
    system("update-binfmts", "--enable", "qemu-#{cpu}", err: File::NULL) || false
  end
end
