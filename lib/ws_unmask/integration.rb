# frozen_string_literal: true

module WsUnmask
  # Describes a library that ws_unmask speeds up, without loading it.
  #
  # @!attribute name
  #   @return [Symbol] its name: +require "ws_unmask/NAME"+
  # @!attribute gem_name
  #   @return [String] the library's gem
  # @!attribute features
  #   @return [Array<String>] the library's files to require
  # @!attribute module_name
  #   @return [Symbol] the module of WsUnmask that +install+ and +uninstall+ are called on
  # @!attribute tested
  #   @return [Array<String>] the tested versions, as requirements for Gem::Requirement
  Integration = Struct.new(:name, :gem_name, :features, :module_name, :tested,
                           keyword_init: true) do
    # @param name [Symbol]
    # @return [Integration]
    # @raise [KeyError] for an unknown name
    def self.find(name)
      self::ALL.find { |integration| integration.name == name } or
        raise KeyError, "unknown integration #{name.inspect}"
    end

    # @return [String] the integration's file to require
    def file = "ws_unmask/#{name}"

    # Requires the integration, which installs it.
    # @return [Module] what +install+ and +uninstall+ are called on
    def load
      require file
      WsUnmask.const_get(module_name)
    end

    # @param version [String]
    # @return [Boolean]
    def tested?(version)
      Gem::Requirement.new(*tested).satisfied_by?(Gem::Version.new(version))
    end

    # @return [String, nil] the version of the gem that is loaded or would be; nil if it is not
    #   installed
    def version
      (Gem.loaded_specs[gem_name] || Gem::Specification.find_by_name(gem_name)).version.to_s
    rescue Gem::MissingSpecError
      nil
    end
  end

  # Reopened for YARD, and for the list of integrations.
  class Integration
    # Every library that ws_unmask speeds up.
    ALL = [
      new(name: :websocket_driver, gem_name: "websocket-driver",
          features: %w[websocket/driver websocket/extensions],
          module_name: :WebSocketDriver, tested: [">= 0.6", "< 0.9"]),
      new(name: :permessage_deflate, gem_name: "permessage_deflate",
          features: %w[permessage_deflate], module_name: :PermessageDeflate,
          tested: ["= 0.1.4"]),
      new(name: :protocol_websocket, gem_name: "protocol-websocket",
          features: %w[protocol/websocket], module_name: :ProtocolWebSocket,
          tested: [">= 0.4", "< 0.22"]),
      new(name: :websocket, gem_name: "websocket", features: %w[websocket],
          module_name: :WebSocketGem, tested: [">= 1.2.6", "< 1.3"]),
      new(name: :websocket_client_simple, gem_name: "websocket-client-simple",
          features: %w[websocket-client-simple], module_name: :WebSocketClientSimple,
          tested: [">= 0.5", "< 0.10"]),
      new(name: :em_websocket, gem_name: "em-websocket", features: %w[em-websocket],
          module_name: :EmWebSocket, tested: [">= 0.3.7", "< 0.6"]),
      new(name: :midori, gem_name: "midori.rb", features: %w[midori],
          module_name: :Midori, tested: [">= 0.9", "< 0.10"])
    ].freeze
  end
end
