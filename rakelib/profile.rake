# frozen_string_literal: true

desc "Flat profiles without and with a drop-in, side by side, and flame graphs; of your SCRIPT, too"
task :profile, %i[script drop_in] => :compile do |_, arguments|
  ruby "-Ilib", "benches/profile.rb", *arguments.to_a
end
