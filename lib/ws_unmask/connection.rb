# frozen_string_literal: true

require_relative "close"
require_relative "decoder"
require_relative "deflate"
require_relative "encoder"
require_relative "errors"
require_relative "connection/client_handshake"
require_relative "connection/server_handshake"

module WsUnmask
  # One end of a WebSocket connection, without its socket (sans-IO): you pass it the bytes that you
  # read, and write the bytes that it leaves in {#output}. So it works with threads, fibers and
  # event loops, and behind TLS.
  #
  # It does the opening and the closing handshake, replies to pings, and closes with the right code
  # when the peer violates the protocol or exceeds a limit. It never raises because of what a peer
  # sends: {#error} says what was wrong.
  #
  # Call {#receive} from one thread at a time; {#text}, {#binary}, {#ping}, {#frame}, {#close} and
  # {#flush} from any thread, at any time.
  #
  # @example A Rack app that echoes
  #   connection = WsUnmask::Connection.accept(env) { |origin| origin == "https://example.com" }
  #   return connection.rejection unless connection.open?
  #
  #   socket = env["rack.hijack"].call
  #   connection.flush { |bytes| socket.write(bytes) }
  #   until connection.closed?
  #     connection.receive(socket.readpartial(16 * 1024)) do |type, payload|
  #       connection.text(payload) if type == :text
  #     end
  #     connection.flush { |bytes| socket.write(bytes) }
  #   end
  class Connection
    # Accepts or refuses a request that a Rack server has read. If it was refused, the connection is
    # {#closed?} and {#rejection} is the app's response.
    # @param env [Hash] the Rack environment
    # @param options see {server}
    # @yield (see server)
    # @yieldparam origin (see server)
    # @yieldparam request (see server)
    # @yieldreturn (see server)
    # @return [Connection]
    def self.accept(env, **options, &)
      server(request: Request.from_rack(env), **options, &)
    end

    # The server's end. {#receive} expects the request first, unless you pass it here.
    #
    # Browsers let any page connect to any server and send the user's cookies along. So check the
    # origin (RFC 6455, section 10.2), unless any visitor may do what the connection allows.
    # @param subprotocols [Array<String>] those that this server supports. The first one of the
    #   client's that is among them becomes {#subprotocol}
    # @param headers [Hash{String => String}] additional headers of the response
    # @param deflate [Deflate, true, nil] how to compress messages, if the client supports it; true
    #   for the defaults of {Deflate}, nil for no compression
    # @param request [Request, nil] the client's request, if you have read it already
    # @param limits options of {Decoder#initialize}: +max_message_size+, +max_frame_size+,
    #   +validate_utf8+
    # @yield whether the client may connect; without a block, every client may
    # @yieldparam origin [String, nil] of the page that connects; nil if it is no browser
    # @yieldparam request [Request]
    # @yieldreturn [Boolean] false to answer 403. If the block raises, so does {receive} or
    #   {accept}, and the connection is closed
    # @return [Connection]
    # @raise [ArgumentError] if a subprotocol or a header is not valid
    def self.server(subprotocols: [], headers: {}, deflate: nil, request: nil, **limits, &allowed)
      deflate = Deflate.new if deflate == true
      handshake = ServerHandshake.new(subprotocols:, headers:, deflate:, &allowed)
      new(handshake, request, client: false, **limits)
    end

    # The client's end. {#output} contains the request, and {#receive} expects the response first.
    # @param url [String, URI] +ws:+ or +wss:+
    # @param subprotocols [Array<String>] those that this client supports, in order of preference
    # @param headers [Hash{String => String}] additional headers of the request, for instance
    #   +Origin+
    # @param deflate [Deflate, true, nil] how to compress messages, if the server supports it
    # @param limits (see server)
    # @return [Connection]
    # @raise [ArgumentError] if the URL is not a WebSocket URL, or if a subprotocol or a header is
    #   not valid
    def self.client(url, subprotocols: [], headers: {}, deflate: nil, **limits)
      deflate = Deflate.new if deflate == true
      new(ClientHandshake.new(url, subprotocols:, headers:, deflate:), nil, client: true, **limits)
    end

    private_class_method :new

    # The bytes to write to the socket. Use {#flush} for that. If only one thread uses the
    # connection, it can also write this String and clear it.
    # @return [String] in ASCII-8BIT
    attr_reader :output

    # @return [String, nil] the subprotocol that both ends have agreed on
    attr_reader :subprotocol

    # @return [ProtocolError, HandshakeError, nil] what the peer did wrong
    attr_reader :error

    def initialize(handshake, request, client:, **limits)
      @handshake = handshake
      @client = client
      @limits = limits
      @decoder = new_decoder(nil)
      @output = handshake.request.b
      @written = "".b
      @may_flush = true
      @open = false
      @closed = false
      @handshake = nil if request && shake_hands(request)
    end

    # Takes the bytes that you have read, and yields the events in them, in order:
    #
    # - +:open+ with the {Request} or {Response} when the handshake is complete, unless {accept} has
    #   completed it
    # - +:text+ and +:binary+ with a String
    # - +:ping+ and +:pong+ with a String; the reply to a ping is already in {#output}
    # - +:close+ with a {Close}; the reply is already in {#output}
    #
    # At 16 KiB and more, +payload.clear+ at the end of the block is worth it: the next payload then
    # gets memory that is in the CPU's cache.
    #
    # Call {#flush} afterwards. A block may raise, +break+ or +throw+: the next call (+receive("")+
    # will do) yields the events after the current one.
    # @overload receive(bytes)
    #   @return [Array<Array>] each an Array of type and payload
    # @overload receive(bytes) {|type, payload| ... }
    #   @yieldparam type [Symbol]
    #   @yieldparam payload [String, Close, Request, Response]
    #   @return [self]
    # @param bytes [String] what was received; it is not changed, and you may change it afterwards
    # @raise [RuntimeError] if it is called from its own block, or by another thread meanwhile
    def receive(bytes, &)
      return collect(bytes) unless block_given?
      return receive_handshake(bytes, &) if @handshake

      yielding = false
      @decoder.feed(bytes) do |type, payload|
        case type
        when :ping, :close then answer(type, payload)
        end
        yielding = true
        yield type, payload
        yielding = false
      end
      self
    rescue ProtocolError => e
      raise if yielding # the block has raised it

      violated(e)
      self
    end

    # @param payload [String] in UTF-8
    # @return [Boolean] whether it will be sent; false if the connection is closed or closing
    # @raise [ArgumentError] if the payload is not valid UTF-8
    # @raise [RuntimeError] if the handshake is not complete
    def text(payload)
      # Here and below: Ruby does not switch to another thread between the condition and the first
      # native method of its branch, nor in that method. So nothing follows a close frame, and
      # nothing is appended to bytes being written. A lock would cost half as much as the call.
      if @open
        @encoder.encode_into(@output, :text, payload)
        true
      else
        not_open
      end
    end

    # @param payload [String]
    # @return (see #text)
    # @raise [RuntimeError] if the handshake is not complete
    def binary(payload)
      if @open
        @encoder.encode_into(@output, :binary, payload)
        true
      else
        not_open
      end
    end

    # @param payload [String] at most 125 bytes, which the peer's pong will contain
    # @return (see #text)
    # @raise [ArgumentError] if the payload is too long
    # @raise [RuntimeError] if the handshake is not complete
    def ping(payload = "")
      if @open
        @encoder.encode_into(@output, :ping, payload)
        true
      else
        not_open
      end
    end

    # Sends a frame made by {Frame.encode}, so that a broadcast is checked and framed only once. The
    # frame is sent unchanged, even if compression was negotiated: messages may always be sent
    # uncompressed (RFC 7692, section 6).
    # @param bytes [String] a whole message or ping in one frame, without a mask; it is not checked
    # @return (see #text)
    # @raise [RuntimeError] if the handshake is not done, or this is a client's end
    def frame(bytes)
      raise "a client must mask each frame with its own key" if @client

      bytes = bytes.b
      if @open
        @output << bytes
        true
      else
        not_open
      end
    end

    # Starts the closing handshake. Keep calling {#receive} until the connection is {#closed?}.
    # @param code [Integer, nil] the close code (RFC 6455, section 7.4.1); nil for none
    # @param reason [String] why, in UTF-8, of at most 123 bytes
    # @return (see #text)
    # @raise [ArgumentError] if the code is not one to be sent, or the reason is too long
    # @raise [RuntimeError] if the handshake is not complete
    def close(code = 1000, reason = "")
      payload = Close.new(code, reason).to_payload
      @open ? send_close(payload) : not_open
    end

    # Yields the bytes to write until none are left, or the socket accepts no more.
    #
    # Only one thread writes at a time. Other threads do not wait: the one that writes also writes
    # what they send in the meantime.
    # @yieldparam bytes [String] do not keep a reference to it
    # @yieldreturn [Integer, Symbol, nil] the number of bytes written, as returned by +write+ and
    #   +write_nonblock(bytes, exception: false)+; +:wait_writable+, nil or 0 for none
    # @return [Boolean] whether nothing is left, or another thread is writing it
    # @raise [ArgumentError] if the block returns more bytes than it was given
    # @raise [TypeError] if it returns anything else, since then it is unknown what was written
    def flush
      until @output.empty? && @written.empty?
        # No Mutex: Thread#raise, and so Timeout, could come between try_lock and the ensure. Here,
        # Ruby neither raises nor switches between the condition and the assignment (see text).
        if @may_flush # rubocop:disable Style/GuardClause -- a jump is where Ruby may switch
          begin
            @may_flush = false
            @output, @written = @written, @output if @written.empty?
            return false unless remove_written(yield(@written))
          ensure
            @may_flush = true
          end
        else
          return true
        end
      end
      true
    end

    # @return [Boolean] whether messages can be sent: the handshake is complete, and no close
    #   frame was sent
    def open? = @open

    # @return [Boolean] whether it has ended: except for {#output}, nothing is received or sent
    #   anymore.
    #
    #   {#flush}, but do not close the socket right away: closing a socket that has unread bytes
    #   resets the connection, and the peer would not see the close frame. Shut the socket down for
    #   writing, read until the end for at most a few seconds, then close it.
    def closed? = @closed

    # @return [Array(Integer, Hash, Array<String>), nil] the response of a Rack app to a request
    #   that was refused
    def rejection
      [@error.status, @error.headers, ["#{@error.message}\n"]] if @error.is_a?(HandshakeError)
    end

    # @return [String] its state
    def inspect
      state = if @open then "open"
              elsif @closed then "closed"
              else
                @encoder ? "closing" : "connecting"
              end
      "#<#{self.class} #{state}, #{@output.bytesize + @written.bytesize} bytes to write>"
    end

    # With more bytes than this to write, pings get no reply: the peer does not read, and only the
    # latest ping needs a reply (RFC 6455, section 5.5.3).
    MOST_BEFORE_PONGS = 256 * 1024
    private_constant :MOST_BEFORE_PONGS

    private

    def collect(bytes)
      received = []
      receive(bytes) { |type, payload| received << [type, payload] }
      received
    end

    # Keeps the bytes after the head until the block has returned.
    def receive_handshake(bytes, &)
      return self if @closed

      raise "receive was called from the block of its :open" if @is_opening

      unless @behind
        head = read_head(bytes)
        return self unless head && shake_hands(head)

        bytes = ""
        open_with(head, &)
      end
      behind = @behind
      @behind = nil
      @handshake = nil
      receive(behind << bytes.b, &)
    end

    def open_with(head)
      @is_opening = true
      yield :open, head
    ensure
      @is_opening = false
    end

    def read_head(bytes)
      head, @behind = @handshake.read(bytes)
      head
    rescue HandshakeError => e
      refused(e)
    end

    # Returns whether it was accepted. If the block that may refuse it raises, the connection is
    # closed: a later {receive} must not take it for accepted.
    def shake_hands(head)
      deflate = @handshake.finish(head)
      @subprotocol = @handshake.subprotocol
      @decoder = new_decoder(deflate) if deflate
      @encoder = Encoder.new(mask: @client, deflate:)
      @output << @handshake.response.b
      @open = true
    rescue HandshakeError => e
      refused(e)
    ensure
      @closed = !@open
    end

    def new_decoder(deflate)
      Decoder.new(forbid_mask: @client, deflate:, **@limits)
    end

    def refused(error)
      @error = error
      @output << @handshake.refusal(error).b
      @closed = true
      nil
    end

    def violated(error)
      @error ||= error
      send_close(Close.new(error.code, error.message).to_payload)
      @closed = true
    end

    # Returns whether there were any.
    def remove_written(count)
      size = @written.bytesize
      return @written.clear if count.equal?(size)
      return if [nil, 0, :wait_writable].include?(count)

      unless count.is_a?(Integer)
        raise TypeError, "the block of flush must return the number of bytes written, not " \
                         "an instance of #{count.class}"
      end

      raise ArgumentError, "#{count} of #{size} bytes were written" unless count.between?(0, size)

      @written = @written.byteslice(count..)
    end

    def answer(type, payload)
      if type == :close
        send_close(payload.to_payload)
        @closed = true
      elsif @output.bytesize < MOST_BEFORE_PONGS
        # @open comes last: after a native method, another thread may close (see text).
        @encoder.encode_into(@output, :pong, payload) if @open
      end
    end

    def send_close(payload)
      frame = @encoder.encode(:close, payload)
      if @open
        @output << frame
        @open = false
        true
      else
        false
      end
    end

    def not_open
      raise "the handshake is not complete" unless @encoder || @closed

      false
    end
  end
end
