# frozen_string_literal: true

require "openssl"
require "tmpdir"
require_relative "../../examples/server"

# A Rack app behind TLS, with a certificate of its own for as long as it runs.
module TLS
  # Yields the port and the path of the certificate.
  def self.run(rackup)
    Dir.mktmpdir do |folder|
      key = OpenSSL::PKey::RSA.new(2048)
      File.write("#{folder}/key", key.to_pem)
      File.write("#{folder}/cert", certificate(key).to_pem)
      port = Server.free_port
      bind = "ssl://127.0.0.1:#{port}?key=#{folder}/key&cert=#{folder}/cert"
      Server.run(rackup, "-b", bind) { yield port, "#{folder}/cert" }
    end
  end

  def self.certificate(key)
    OpenSSL::X509::Certificate.new.tap do |certificate|
      certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
      certificate.not_before = Time.now
      certificate.not_after = Time.now + 3600
      certificate.public_key = key.public_key
      certificate.sign(key, "SHA256")
    end
  end
end
