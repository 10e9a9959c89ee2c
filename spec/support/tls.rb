# frozen_string_literal: true

require "openssl"
require "tmpdir"
require_relative "../../examples/server"

# Servers behind TLS, with self-signed certificates for localhost.
module TLS
  # Runs a Rack app. Yields the port and the path of the certificate.
  def self.run(rackup)
    Dir.mktmpdir do |folder|
      key, certificate = self_signed
      File.write("#{folder}/key", key.to_pem)
      File.write("#{folder}/cert", certificate.to_pem)
      port = Server.free_port
      bind = "ssl://127.0.0.1:#{port}?key=#{folder}/key&cert=#{folder}/cert"
      Server.run(rackup, "-b", bind) { yield port, "#{folder}/cert" }
    end
  end

  # @return [Array(OpenSSL::PKey::EC, OpenSSL::X509::Certificate)]
  def self.self_signed
    key = OpenSSL::PKey::EC.generate("prime256v1")
    name = OpenSSL::X509::Name.parse("/CN=localhost")
    certificate = OpenSSL::X509::Certificate.new.tap do |it|
      it.version = 2
      it.serial = 1
      it.subject = it.issuer = name
      it.public_key = key
      it.not_before = Time.now - 60
      it.not_after = Time.now + 3600
      it.sign(key, "SHA256")
    end
    [key, certificate]
  end
end
