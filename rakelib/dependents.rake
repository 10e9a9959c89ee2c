# frozen_string_literal: true

desc "Run the libraries' own tests with and without ws_unmask; DEPENDENTS is their folder"
task dependents: :compile do
  folder = ENV.fetch("DEPENDENTS", nil)
  if folder
    ruby "dependents/run.rb", folder
  else
    puts "rake dependents: skipped (usage: DEPENDENTS=FOLDER rake dependents)"
  end
end
