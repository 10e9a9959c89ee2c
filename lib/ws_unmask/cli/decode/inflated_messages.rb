# frozen_string_literal: true

module WsUnmask
  class CLI
    class Decode
      # Finds the inflated message that ends with a given frame.
      class InflatedMessages
        def initialize
          @decoded = [] # messages whose last frame has not been shown yet
          @compressed = false
        end

        # @param type [Symbol] as a {Decoder} yields them, in order
        # @param payload [String, Close]
        def decoded(type, payload)
          @decoded << payload if %i[text binary].include?(type)
        end

        # @param frame [Frame] the next one
        # @return [String, nil] the plain message; nil if none ends here, or it was not compressed
        def ended_by(frame)
          case frame.type
          when :text, :binary then @compressed = frame.rsv1?
          when :continuation then nil
          else return
          end
          return unless frame.fin?

          message = @decoded.shift
          message if @compressed
        end
      end
    end
  end
end
