# frozen_string_literal: true

desc "Profiles of a SCRIPT without ws_unmask and with it, side by side, and flame graphs"
task :profile, %i[script integration] => :compile do |_, arguments|
  ruby "-Ilib", "benches/profile.rb", *arguments.to_a
end
