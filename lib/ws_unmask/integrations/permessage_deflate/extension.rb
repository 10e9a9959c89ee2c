# frozen_string_literal: true

module WsUnmask
  module PermessageDeflate
    # For +PermessageDeflate::Extension+: the library's own sessions, with {Session}.
    module Extension
      # @return [::PermessageDeflate::ClientSession]
      def create_client_session = ws_unmask_extended(create_client_session_without_ws_unmask)

      # @param offers [Array<Hash>] the client's
      # @return [::PermessageDeflate::ServerSession, nil]
      def create_server_session(offers)
        session = create_server_session_without_ws_unmask(offers)
        session && ws_unmask_extended(session)
      end

      private

      def ws_unmask_extended(session)
        PATCHES.unhooked?([session]) ? session.extend(Session) : session
      end
    end
  end
end
