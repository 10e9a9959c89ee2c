# frozen_string_literal: true

require "websocket/driver"

# Instrumentation as others write it, around one method of websocket-driver's; it can be undone.
class Hooks
  HYBI = WebSocket::Driver::Hybi
  EVERY = {
    HYBI => %i[parse frame text binary emit emit_frame emit_message send_frame fail shutdown
               parse_opcode parse_length parse_extended_length check_frame_length],
    WebSocket::Driver::EventEmitter => %i[emit],
    WebSocket::Driver::StreamReader => %i[put read],
    WebSocket::Extensions => %i[valid_frame_rsv? process_incoming_message
                                process_outgoing_message],
    HYBI::Message => %i[<<],
    WebSocket::Mask.singleton_class => %i[mask],
    WebSocket::Driver.singleton_class => %i[encode]
  }.flat_map { |target, names| names.map { |name| [target, name] } }.freeze
  WAYS = %i[prepend alias_method extend define_singleton_method].freeze

  # @return [Array] what the hooked method was called with
  attr_reader :calls

  # @param driver [WebSocket::Driver] which {#on_object} hooks
  def initialize(target, name)
    @target = target
    @name = name
    @calls = []
  end

  # While a block runs.
  def around(way, driver = nil, &)
    hook(way, driver)
    yield
  ensure
    @undo&.call
  end

  # Whether this way works for it: an object's own methods are the driver's here.
  def self.fit?(target, way)
    %i[prepend alias_method].include?(way) || target == HYBI
  end

  def hook(way, driver)
    case way
    when :prepend then prepend_to_class
    when :alias_method then chain
    when :extend then driver.extend(counting)
    when :define_singleton_method then define_singleton_method_on(driver)
    end
  end

  private

  def counting
    calls = @calls
    name = @name
    note = method(:note)
    Module.new do
      define_method(name) do |*arguments, &block|
        calls << note.call(arguments)
        super(*arguments, &block)
      end
    end
  end

  # The module stays, without the method.
  def prepend_to_class
    hook = counting
    @target.prepend(hook)
    @undo = -> { hook.remove_method(@name) }
  end

  def chain
    original = @target.instance_method(@name)
    without = :"#{@name}_without_hook"
    calls = @calls
    note = method(:note)
    @target.alias_method(without, @name)
    @target.define_method(@name) do |*arguments, &block|
      calls << note.call(arguments)
      __send__(without, *arguments, &block)
    end
    @undo = -> { unchain(original, without) }
  end

  def unchain(original, without)
    @target.remove_method(@name)
    @target.define_method(@name, original) if original.owner.equal?(@target)
    @target.remove_method(without)
  end

  def define_singleton_method_on(driver)
    calls = @calls
    note = method(:note)
    original = driver.method(@name)
    driver.define_singleton_method(@name) do |*arguments, &block|
      calls << note.call(arguments)
      original.call(*arguments, &block)
    end
  end

  def note(arguments)
    arguments.map do |argument|
      case argument
      when String then [argument.hash, argument.encoding]
      when HYBI::Frame, HYBI::Message
        argument.instance_variables.sort.map { |name| [name, argument.instance_variable_get(name)] }
      when Struct then argument.to_a
      else argument
      end
    end
  end
end
