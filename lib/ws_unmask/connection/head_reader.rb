# frozen_string_literal: true

require_relative "head"

module WsUnmask
  class Connection
    # Reads a head that arrives in pieces.
    class HeadReader
      MAX_SIZE = 16 * 1024
      HEAD_END = "\r\n\r\n"
      private_constant :MAX_SIZE, :HEAD_END

      # @param kind [Class] {Request} or {Response}
      # @param unfolds [Boolean] whether a header may be folded over several lines, which a client
      #   has to accept and a server may refuse (RFC 9112, section 5.2)
      def initialize(kind, unfolds: false)
        @kind = kind
        @unfolds = unfolds
        @bytes = "".b
      end

      # @param bytes [String]
      # @return [Array(Head, String), nil] the head and the bytes after it; nil if it is incomplete
      # @raise [HandshakeError] if it is malformed or too long
      def read(bytes)
        searched = [@bytes.bytesize - HEAD_END.bytesize + 1, 0].max
        @bytes << bytes.b
        size = @bytes.index(HEAD_END, searched)
        if (size || @bytes.bytesize) > MAX_SIZE
          raise HandshakeError.new("headers over #{MAX_SIZE} bytes", status: 431)
        end
        return unless size

        [parse(@bytes.byteslice(0, size)), @bytes.byteslice((size + HEAD_END.bytesize)..)]
      end

      private

      def parse(head)
        head.delete_prefix!("\r\n") # an empty line is ignored (RFC 9112, section 2.2)
        head.gsub!(/\r\n[ \t]+/, " ") if @unfolds
        line, *headers = head.split("\r\n")
        @kind.parse(line.to_s, Head.headers(headers))
      end
    end
    private_constant :HeadReader
  end
end
