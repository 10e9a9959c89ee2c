# frozen_string_literal: true

desc "The libraries' own tests with ws_unmask and without; DEPENDENTS is the folder with them"
task dependents: :compile do
  folder = ENV.fetch("DEPENDENTS", nil)
  if folder
    ruby "dependents/run.rb", folder
  else
    puts "DEPENDENTS is no folder with the libraries' sources: their own tests are left out"
  end
end
