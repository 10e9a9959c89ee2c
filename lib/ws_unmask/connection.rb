# frozen_string_literal: true

require_relative "close"
require_relative "decoder"
require_relative "deflate"
require_relative "encoder"
require_relative "errors"
require_relative "connection/client_handshake"
require_relative "connection/server_handshake"

module WsUnmask
  # One end of a WebSocket connection, without its socket: you give it the bytes that you have read,
  # and write the bytes that it has for the other end. So it works with threads, fibers and event
  # loops alike, and behind TLS.
  #
  # It does the opening handshake, answers pings and the closing handshake, and closes with the
  # right code when the peer violates the protocol or a limit. What a peer sends never makes it
  # raise: {#error} has what was wrong.
  #
  # {#receive} is for one thread at a time. {#text}, {#binary}, {#ping}, {#close} and {#flush} are
  # for any thread, at any time.
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
    # Accepts or refuses a request that a Rack server has read. If it was refused, {#rejection} is
    # the app's answer, and the connection is {#closed?}.
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

    # A server's end: {#receive} takes the request first, unless it is given.
    #
    # Browsers let any page connect to any server and send the user's cookies along, so check the
    # origin (RFC 6455, section 10.2) unless the connection has no more rights than anybody.
    # @param subprotocols [Array<String>] those that this server speaks. The first of the client's
    #   that is among them becomes {#subprotocol}
    # @param headers [Hash{String => String}] what else the response is to have
    # @param deflate [Deflate, true, nil] how to compress messages if the client can, too; true for
    #   the defaults of {Deflate}, nil for not at all
    # @param request [Request, nil] the client's, if it has been read already
    # @param limits what {Decoder#initialize} takes: +max_message_size+, +max_frame_size+,
    #   +validate_utf8+
    # @yield whether the client may connect; without a block, every client may
    # @yieldparam origin [String, nil] of the page that connects; nil if it is no browser
    # @yieldparam request [Request]
    # @yieldreturn [Boolean] false to answer 403
    # @return [Connection]
    # @raise [ArgumentError] if a subprotocol or a header must not be sent
    def self.server(subprotocols: [], headers: {}, deflate: nil, request: nil, **limits, &allowed)
      deflate = Deflate.new if deflate == true
      handshake = ServerHandshake.new(subprotocols:, headers:, deflate:, &allowed)
      new(handshake, request, client: false, **limits)
    end

    # A client's end: {#output} has the request, and {#receive} takes the response first.
    # @param url [String, URI] +ws:+ or +wss:+
    # @param subprotocols [Array<String>] those that this client speaks, the best first
    # @param headers [Hash{String => String}] what else the request is to have, for instance an
    #   +Origin+
    # @param deflate [Deflate, true, nil] how to compress messages if the server can, too
    # @param limits (see server)
    # @return [Connection]
    # @raise [ArgumentError] if the URL is none of a WebSocket, or a subprotocol or a header must
    #   not be sent
    def self.client(url, subprotocols: [], headers: {}, deflate: nil, **limits)
      deflate = Deflate.new if deflate == true
      new(ClientHandshake.new(url, subprotocols:, headers:, deflate:), nil, client: true, **limits)
    end

    private_class_method :new

    # What has to be written. {#flush} is the way to do so; a single thread can also write and clear
    # it by itself.
    # @return [String] in ASCII-8BIT
    attr_reader :output

    # @return [String, nil] the subprotocol that both ends have agreed on
    attr_reader :subprotocol

    # @return [ProtocolError, HandshakeError, nil] what the peer has done wrong
    attr_reader :error

    def initialize(handshake, request, client:, **limits)
      @handshake = handshake
      @client = client
      @limits = limits
      @decoder = new_decoder(nil)
      @output = handshake.request.b
      @written = "".b
      @flushing = Mutex.new
      @open = false
      @closed = false
      @handshake = nil if request && shake_hands(request)
    end

    # Takes what was read, and yields what is in it, in order:
    #
    # - +:open+ and the {Request} or {Response} when the handshake is done, unless {accept} has done
    #   it
    # - +:text+ and +:binary+, and a String
    # - +:ping+ and +:pong+, and a String; a ping is answered already
    # - +:close+ and a {Close}; it is answered already
    #
    # A block may raise, +break+ or +throw+: what is behind the current message comes with the next
    # call (+receive("")+ will do). Afterwards, {#flush}.
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
      raise if yielding # it is the block's

      violated(e)
      self
    end

    # @param payload [String] in UTF-8
    # @return [Boolean] whether it will be sent: not if the connection is closed, or closing
    # @raise [ArgumentError] if the payload is not valid UTF-8
    # @raise [RuntimeError] if the handshake is not done
    def text(payload)
      # Here and below: Ruby does not switch to another thread between the condition and the first
      # native method of its branch, nor in that method. So nothing follows a close frame, and
      # nothing is appended to what is being written. A lock would cost half as much as the call.
      if @open
        @encoder.encode_into(@output, :text, payload)
        true
      else
        not_open
      end
    end

    # @param payload [String]
    # @return (see #text)
    # @raise [RuntimeError] if the handshake is not done
    def binary(payload)
      if @open
        @encoder.encode_into(@output, :binary, payload)
        true
      else
        not_open
      end
    end

    # @param payload [String] of at most 125 bytes, which the peer's pong will have
    # @return (see #text)
    # @raise [ArgumentError] if the payload is too long
    # @raise [RuntimeError] if the handshake is not done
    def ping(payload = "")
      if @open
        @encoder.encode_into(@output, :ping, payload)
        true
      else
        not_open
      end
    end

    # Begins the closing handshake. Go on with {#receive} until the connection is {#closed?}.
    # @param code [Integer, nil] the close code (RFC 6455, section 7.4.1); nil for none
    # @param reason [String] why, in UTF-8, of at most 123 bytes
    # @return (see #text)
    # @raise [ArgumentError] if the code must not be sent, or the reason is too long
    # @raise [RuntimeError] if the handshake is not done
    def close(code = 1000, reason = "")
      payload = Close.new(code, reason).to_payload
      @open ? send_close(payload) : not_open
    end

    # Yields what has to be written until nothing is left, or no more can be written now.
    #
    # One thread writes at a time, and the others do not wait: what they send meanwhile, it writes.
    # @yieldparam bytes [String] do not keep it
    # @yieldreturn [Integer, Symbol, nil] how many bytes were written, as +write+ and
    #   +write_nonblock(bytes, exception: false)+ return it; +:wait_writable+ or nil for none
    # @return [Boolean] whether nothing is left, or another thread writes it
    def flush
      until @output.empty? && @written.empty?
        return true unless @flushing.try_lock

        begin
          @output, @written = @written, @output if @written.empty?
          count = yield @written
          return false unless count.is_a?(Integer)

          count == @written.bytesize ? @written.clear : @written = @written.byteslice(count..)
        ensure
          @flushing.unlock
        end
      end
      true
    end

    # @return [Boolean] whether messages can be sent: the handshake is done, and no close was sent
    def open? = @open

    # @return [Boolean] whether it is over: nothing more will be received or sent but {#output}.
    #
    #   Write that, and then do not close the socket at once: a socket that is closed with unread
    #   bytes in it resets the connection, and the peer would never see why it was closed. Shut it
    #   down for writing, read until the end for a few seconds, and close it.
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
      "#<#{self.class} #{state}, #{@output.bytesize + @written.bytesize} bytes to be written>"
    end

    # With so many bytes to be written, pings are not answered: the peer does not read, and only the
    # latest ping has to be answered (RFC 6455, section 5.5.3).
    MOST_BEFORE_PONGS = 256 * 1024
    private_constant :MOST_BEFORE_PONGS

    private

    def collect(bytes)
      received = []
      receive(bytes) { |type, payload| received << [type, payload] }
      received
    end

    # What is behind the head is kept until the block has returned.
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

    # Returns whether it was accepted.
    def shake_hands(head)
      deflate = @handshake.finish(head)
      @subprotocol = @handshake.subprotocol
      @decoder = new_decoder(deflate) if deflate
      @encoder = Encoder.new(mask: @client, deflate:)
      @output << @handshake.response.b
      @open = true
    rescue HandshakeError => e
      refused(e)
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

    def answer(type, payload)
      if type == :close
        send_close(payload.to_payload)
        @closed = true
      elsif @open && @output.bytesize < MOST_BEFORE_PONGS
        @encoder.encode_into(@output, :pong, payload)
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
      raise "the handshake is not done" unless @encoder || @closed

      false
    end
  end
end
