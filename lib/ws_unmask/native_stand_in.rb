# frozen_string_literal: true

module WsUnmask
  # Stands in for the extension's own Native until that is there.
  module Native
    def self.whole_frames(buffer, offset, require_mask, _allow_reserved, max, message_size)
      frames = []
      while frames.size < 768 && (frame = Frame.peek(buffer, offset, require_mask))
        payload = frame.payload
        unless frame.opcode > 2
          break if frame.opcode.zero? == message_size.nil?

          size = message_size.to_i + payload.bytesize
          break if size > max

          message_size = frame.fin? ? nil : size
        end
        payload.force_encoding(Encoding::BINARY) unless frame.fin? && frame.opcode == 1
        frames.push((frame.fin? ? 128 : 0) | frame.opcode, payload, offset += frame.size)
      end
      frames unless frames.empty?
    end

    def self.frame(opcode, payload, key, fin, reserved)
      Frame.encode(opcode, payload, key, fin, [1, 2, 3].select { |bit| reserved.anybits?(8 >> bit) })
    end
  end
end
