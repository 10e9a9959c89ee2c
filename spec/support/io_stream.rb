# frozen_string_literal: true

# Streams of io-stream over pieces that are read one after the other.
module IOStreams
  # The IO of such a stream. If a piece is an exception class, it is raised.
  class Pieces
    attr_reader :written

    def initialize(pieces)
      @pieces = pieces.reject { |piece| piece == "" }
      @written = []
      @closed = false
    end

    def read_nonblock(size, buffer, exception:)
      raise ArgumentError if exception

      piece = @pieces.shift or return
      raise piece if piece.is_a?(Class)

      @pieces.unshift(piece.byteslice(size..)) if piece.bytesize > size
      buffer.replace(piece.byteslice(0, size))
    end

    def write(bytes)
      @written << bytes.b
      bytes.bytesize
    end

    def close
      @closed = true
    end

    def closed? = @closed
  end

  # @param pieces [Array<String, Class>]
  # @return [IO::Stream::Buffered]
  def io_stream(pieces)
    IO::Stream::Buffered.new(Pieces.new(pieces))
  end
end
