//! `WsUnmask::Decoder`.

use crate::arguments::{RuleArguments, reserved_numbers, string};
use crate::deflate::Agreement;
use crate::error::decode_error;
use crate::ruby_memory::{
    HeldMemory, KnownType, NoMemory, RubyString, catching_jumps, with_bytes, yield_values,
};
use crate::types;
use magnus::{
    DataTypeFunctions, Error, IntoValue, Module, RArray, RClass, RModule, RString, Ruby, TypedData,
    Value, gc, method, prelude::*, typed_data::Obj, value::Opaque,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use ws_unmask_core::frame::Opcode;
use ws_unmask_core::{DecodeError, Message, Reserved, Rules};

/// For how many messages memory is kept while none are undelivered.
const KEPT_CAPACITY: usize = 64;

/// The core's decoder, and the messages that are not delivered yet.
///
/// The core is taken out of its cell while it decodes, and is put back before a block runs. So
/// whatever a block does (it may jump, or use continuations), nothing on the stack needs cleaning up.
/// If Ruby has no memory for a message, the core is dropped. The messages are borrowed only between
/// two calls into Ruby, so the garbage collector can always mark them.
#[derive(TypedData)]
#[magnus(class = "WsUnmask::Decoder", free_immediately, mark, size)]
struct Decoder {
    core: Cell<Option<Box<ws_unmask_core::Decoder>>>,
    undelivered: RefCell<VecDeque<Undelivered>>,
    names_reserved: Cell<bool>,
    is_set_up: Cell<bool>,
    stage: Cell<Stage>,
    /// A close frame was delivered.
    is_closed: Cell<bool>,
    held: HeldMemory,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    /// Without memory for a message the decoder stays here for good: the bytes after it are lost.
    Decoding,
    Delivering,
}

static DECODER: KnownType<Decoder> = KnownType::new();

/// A message that is not delivered yet.
#[derive(Clone, Copy)]
struct Undelivered {
    payload: Opaque<RString>,
    opcode: Opcode,
    reserved: Reserved,
    code: Option<u16>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            core: Cell::new(Some(Box::new(ws_unmask_core::Decoder::new(Rules::default())))),
            undelivered: RefCell::default(),
            names_reserved: Cell::new(false),
            is_set_up: Cell::new(false),
            stage: Cell::new(Stage::Idle),
            is_closed: Cell::new(false),
            held: HeldMemory::default(),
        }
    }
}

impl DataTypeFunctions for Decoder {
    fn mark(&self, marker: &gc::Marker) {
        for message in self.undelivered.borrow().iter() {
            marker.mark(message.payload);
        }
    }

    fn size(&self) -> usize {
        let core = self.with_core(|core| size_of_val(core) + core.allocated());
        size_of::<Self>() + core.unwrap_or(0) + self.undelivered_size()
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Decoder", ruby.class_object())?;
    class.define_alloc_func::<Decoder>();
    class.define_private_method("set_up", method!(set_up, 7))?;
    class.define_private_method("initialize_copy", method!(initialize_copy, 1))?;
    class.define_method("feed", method!(feed, 1))?;
    class.define_method("closed?", method!(is_closed, 0))?;
    class.define_method("inspect", method!(inspect, 0))
}

#[allow(clippy::too_many_arguments, reason = "Ruby passes the keywords one by one")]
fn set_up(
    ruby: &Ruby,
    decoder: &Decoder,
    max_message_size: Value,
    max_frame_size: Value,
    require_mask: Value,
    forbid_mask: Value,
    allow_reserved: Value,
    validate_utf8: Value,
    deflate: Value,
) -> Result<(), Error> {
    let arguments = RuleArguments {
        max_message_size,
        max_frame_size,
        require_mask,
        forbid_mask,
        allow_reserved,
        validate_utf8,
    };
    let rules = arguments.rules(ruby)?;
    let agreement = Agreement::optional(ruby, &deflate)?;
    if decoder.is_set_up.replace(true) {
        return Err(Error::new(ruby.exception_type_error(), "already initialized"));
    }
    decoder.names_reserved.set(rules.allow_reserved != 0);
    decoder.core.set(Some(Box::new(match agreement {
        Some(agreement) => ws_unmask_core::Decoder::with_inflater(rules, agreement.inflater()),
        None => ws_unmask_core::Decoder::new(rules),
    })));
    Ok(())
}

fn initialize_copy(ruby: &Ruby, _: &Decoder, _: Value) -> Result<(), Error> {
    let message = "a decoder cannot be copied: a stream has only one";
    Err(Error::new(ruby.exception_type_error(), message))
}

fn is_closed(decoder: &Decoder) -> bool {
    decoder.is_closed.get()
}

fn inspect(ruby: &Ruby, decoder: Obj<Decoder>) -> RString {
    let (has_failed, unfinished) =
        decoder.with_core(|core| (core.error().is_some(), core.unfinished())).unwrap_or((true, 0));
    let state = if has_failed {
        "failed"
    } else if decoder.is_closed.get() {
        "closed"
    } else {
        "open"
    };
    let undelivered = decoder.undelivered.borrow().len();
    ruby.str_new(&format!(
        "#<{} {state}, {unfinished} bytes of an unfinished message, {undelivered} undelivered>",
        decoder.class(),
    ))
}

fn feed(ruby: &Ruby, rb_self: Value, bytes: Value) -> Result<Value, Error> {
    let decoder = DECODER.get(&rb_self)?;
    let bytes = string(ruby, bytes, "bytes")?;
    decoder.is_set_up.set(true);
    match decoder.stage.get() {
        Stage::Idle => {}
        Stage::Decoding => return decoder.deliver_then(ruby, out_of_memory(ruby)),
        Stage::Delivering => {
            let message = "this decoder is being fed already: feed it from one thread, \
                           and not from within its own block";
            return Err(Error::new(ruby.exception_runtime_error(), message));
        }
    }
    let fed = if ruby.block_given() {
        decoder.feed_with_block(ruby, bytes).map(|()| rb_self)
    } else {
        decoder.feed_without_block(ruby, bytes).map(|messages| messages.as_value())
    };
    match fed {
        Err(error) if decoder.stage.get() == Stage::Decoding => decoder.deliver_then(ruby, error),
        _ => fed,
    }
}

fn out_of_memory(ruby: &Ruby) -> Error {
    decode_error(ruby, DecodeError::Memory(NoMemory::InRust))
}

impl Decoder {
    fn feed_with_block(&self, ruby: &Ruby, bytes: RString) -> Result<(), Error> {
        let mut core = self.core.take();
        let fed = catching_jumps(|| {
            let decoded = self.decode(&mut core, bytes);
            match decoded {
                Ok(Some(only)) => self.deliver(ruby, only),
                Ok(None) => self.deliver_all(ruby),
                Err(error) => {
                    self.deliver_all(ruby)?;
                    Err(decode_error(ruby, error))
                }
            }
        });
        self.end_delivery();
        fed?
    }

    fn feed_without_block(&self, ruby: &Ruby, bytes: RString) -> Result<RArray, Error> {
        let mut core = self.core.take();
        let fed = catching_jumps(|| {
            let decoded = self.decode(&mut core, bytes).map(|only| {
                if let Some(only) = only {
                    self.keep(only);
                }
            });
            let messages = self.collect(ruby)?;
            match decoded {
                Err(error) if messages.is_empty() => Err(decode_error(ruby, error)),
                _ => Ok(messages),
            }
        });
        self.end_delivery();
        fed?
    }

    /// Delivers what was decoded before memory ran out, then raises.
    #[cold]
    fn deliver_then(&self, ruby: &Ruby, error: Error) -> Result<Value, Error> {
        let delivered = catching_jumps(|| {
            if ruby.block_given() {
                return self.deliver_all(ruby).map(|()| None);
            }
            let messages = self.collect(ruby)?;
            Ok((!messages.is_empty()).then_some(messages))
        });
        delivered??.map_or(Err(error), |messages| Ok(messages.as_value()))
    }

    /// Decodes all of `bytes`. Returns the message if there is exactly one and no other is undelivered;
    /// otherwise it adds messages to the undelivered ones. Puts `core` back, unless memory ran out.
    #[inline(always)]
    fn decode(
        &self,
        core: &mut Option<Box<ws_unmask_core::Decoder>>,
        bytes: RString,
    ) -> Result<Option<Undelivered>, DecodeError<NoMemory>> {
        self.stage.set(Stage::Decoding);
        let Some(decoder) = core.as_deref_mut() else {
            return Err(DecodeError::Memory(NoMemory::InRust));
        };
        // So that the message decoded last can always be kept.
        self.reserve()?;
        let decoded = with_bytes(bytes, |mut bytes| {
            while let Some(message) = decoder.next(&mut bytes)? {
                let message = Undelivered::from(message);
                if bytes.is_empty() && self.undelivered.borrow().is_empty() {
                    return Ok(Some(message));
                }
                self.keep(message);
                self.reserve()?;
            }
            Ok(None)
        });
        if matches!(decoded, Err(DecodeError::Memory(_))) {
            return decoded;
        }
        let held = decoder.allocated() + self.undelivered_size();
        self.core.set(core.take());
        self.stage.set(Stage::Delivering);
        if !self.held.is_about(held) {
            // Telling the garbage collector may raise.
            if let Ok(Some(only)) = decoded {
                self.keep(only);
                self.held.is(held);
                return Ok(None);
            }
            self.held.is(held);
        }
        decoded
    }

    fn end_delivery(&self) {
        if self.stage.get() == Stage::Delivering {
            self.stage.set(Stage::Idle);
        }
    }

    #[inline(always)]
    fn reserve(&self) -> Result<(), DecodeError<NoMemory>> {
        let reserved = self.undelivered.borrow_mut().try_reserve(1);
        reserved.map_err(|error| DecodeError::Memory(error.into()))
    }

    /// [`reserve`](Self::reserve) has made room for it.
    #[inline(always)]
    fn keep(&self, message: Undelivered) {
        self.undelivered.borrow_mut().push_back(message);
    }

    /// What `read` returns for the core; it must not call Ruby. None without a core.
    fn with_core<T>(&self, read: impl FnOnce(&ws_unmask_core::Decoder) -> T) -> Option<T> {
        let core = self.core.take();
        let result = core.as_deref().map(read);
        self.core.set(core);
        result
    }

    /// Yields the undelivered messages. A message counts as delivered when its block starts.
    fn deliver_all(&self, ruby: &Ruby) -> Result<(), Error> {
        while let Some(message) = self.first() {
            let (kind, payload, reserved) = self.parts(ruby, message)?;
            self.undelivered.borrow_mut().pop_front();
            match reserved {
                Some(reserved) => yield_values(&[kind, payload, reserved]),
                None => yield_values(&[kind, payload]),
            }
        }
        self.undelivered.borrow_mut().shrink_to(KEPT_CAPACITY);
        Ok(())
    }

    /// Yields the only undelivered message.
    #[inline(always)]
    fn deliver(&self, ruby: &Ruby, message: Undelivered) -> Result<(), Error> {
        if message.opcode == Opcode::Close || self.names_reserved.get() {
            // Taking the arguments apart may raise.
            self.keep(message);
            return self.deliver_all(ruby);
        }
        let kind = types::symbol(ruby, message.opcode);
        yield_values(&[kind, ruby.get_inner(message.payload).as_value()]);
        Ok(())
    }

    fn first(&self) -> Option<Undelivered> {
        self.undelivered.borrow().front().copied()
    }

    /// The undelivered messages, as an Array of Arrays. If memory runs out, they stay undelivered.
    fn collect(&self, ruby: &Ruby) -> Result<RArray, Error> {
        let count = self.undelivered.borrow().len();
        let messages = ruby.ary_new_capa(count);
        for index in 0..count {
            let message = self.undelivered.borrow()[index];
            let (kind, payload, reserved) = self.parts(ruby, message)?;
            messages.push(match reserved {
                Some(reserved) => ruby.ary_new_from_values(&[kind, payload, reserved]),
                None => ruby.ary_new_from_values(&[kind, payload]),
            })?;
        }
        let mut undelivered = self.undelivered.borrow_mut();
        undelivered.clear();
        undelivered.shrink_to(KEPT_CAPACITY);
        Ok(messages)
    }

    /// The type, the payload and, if wanted, the reserved bits, as yielded to a block.
    #[inline]
    fn parts(
        &self,
        ruby: &Ruby,
        message: Undelivered,
    ) -> Result<(Value, Value, Option<Value>), Error> {
        let payload = ruby.get_inner(message.payload);
        let payload = if message.opcode == Opcode::Close {
            self.is_closed.set(true);
            close(ruby, message.code, payload)?
        } else {
            payload.as_value()
        };
        let reserved =
            self.names_reserved.get().then(|| reserved_numbers(ruby, message.reserved).as_value());
        Ok((types::symbol(ruby, message.opcode), payload, reserved))
    }

    fn undelivered_size(&self) -> usize {
        self.undelivered.borrow().capacity() * size_of::<Undelivered>()
    }
}

impl From<Message<RubyString>> for Undelivered {
    #[inline(always)]
    fn from(message: Message<RubyString>) -> Self {
        let (payload, opcode, reserved, code) = match message {
            Message::Text { payload, reserved } => (payload, Opcode::Text, reserved, None),
            Message::Binary { payload, reserved } => (payload, Opcode::Binary, reserved, None),
            Message::Ping(payload) => (payload, Opcode::Ping, 0, None),
            Message::Pong(payload) => (payload, Opcode::Pong, 0, None),
            Message::Close { code, reason } => (reason, Opcode::Close, 0, code),
        };
        Self { payload: payload.0.into(), opcode, reserved, code }
    }
}

#[cold]
fn close(ruby: &Ruby, code: Option<u16>, reason: RString) -> Result<Value, Error> {
    let class: RClass = ruby
        .class_object()
        .const_get::<_, RModule>("WsUnmask")
        .and_then(|module| module.const_get("Close"))?;
    Ok(class.new_instance((code, reason))?.into_value_with(ruby))
}
