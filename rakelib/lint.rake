# frozen_string_literal: true

# Skips a lint whose tool is not installed, with a message.
def cargo_lint(subcommand, *arguments)
  if system("cargo", subcommand, "--version", out: File::NULL, err: File::NULL)
    sh "cargo", subcommand, *arguments
  else
    puts "cargo #{subcommand} is not installed (run `rustup component add`): skipped"
  end
end

desc "Run rustfmt, clippy and RuboCop, and check that everything public is documented"
task lint: :yard_stats do
  cargo_lint "fmt", "--all", "--check"
  cargo_lint "clippy", "--workspace", "--all-targets", "--features", "ws_unmask_core/deflate",
             "--locked", "--", "-D", "warnings"
  cd "benches/competitors", verbose: false do
    cargo_lint "fmt", "--check"
    cargo_lint "clippy", "--all-targets", "--locked", "--", "-D", "warnings"
  end
  sh({ "RUSTDOCFLAGS" => "-D warnings" }, "cargo", "doc", "--no-deps", "--locked", "--quiet",
     "--features", "deflate")
  sh "rubocop"
  sh "actionlint" if system("actionlint", "-version", out: File::NULL)
end
