# frozen_string_literal: true

require "mkmf"

unless find_executable("cargo")
  abort "ws_unmask is compiled with Rust, which is not here: install it from https://rustup.rs, " \
        "see that `cargo --version` works in this shell, and install the gem again."
end

require "rb_sys/mkmf"

create_rust_makefile("ws_unmask/ws_unmask")
