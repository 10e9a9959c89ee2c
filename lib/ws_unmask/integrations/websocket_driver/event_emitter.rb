# frozen_string_literal: true

module WsUnmask
  module WebSocketDriver
    # For +WebSocket::Driver::EventEmitter+.
    module EventEmitter
      # The driver's own method takes as long as the rest of a short message's processing. So a
      # single listener is called without copying the event's name and the list.
      # @param event [Symbol, String]
      # @return [Array<#call>] the listeners that were called
      def emit(event, *args)
        listeners = @listeners[event.is_a?(Symbol) ? event.name : event.to_s]
        return emit_without_ws_unmask(event, *args) unless listeners.size == 1

        listener = listeners.first
        listener.call(*args)
        [listener]
      end
    end
  end
end
