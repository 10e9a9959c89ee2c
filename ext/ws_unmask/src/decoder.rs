//! `WsUnmask::Decoder`.

use crate::arguments::string;
use crate::error::payload_error;
use crate::options;
use crate::ruby_memory::{NoMemory, RubyString, with_bytes};
use magnus::{
    DataTypeFunctions, Error, IntoValue, Module, Object, RArray, RClass, RModule, RString, Ruby,
    TypedData, Value, function, method, prelude::*, typed_data::Obj, value::LazyId,
};
use std::cell::RefCell;
use ws_unmask_core::frame::Reserved;
use ws_unmask_core::{Message, Options, PayloadError};

/// Bytes of a backlog's memory that are kept for the next one.
const KEPT: usize = 4 << 10;

#[derive(TypedData)]
#[magnus(class = "WsUnmask::Decoder", free_immediately, size)]
struct Decoder(RefCell<Stream>);

/// It is borrowed only while no Ruby code can run, thus never while a block is yielded to, which
/// may leave in any way or call `feed` again.
struct Stream {
    core: ws_unmask_core::Decoder,
    names_reserved: bool,
    is_feeding: bool,
    /// What came, but has not been decoded, since there was a message before it to yield.
    backlog: Vec<u8>,
    /// Bytes of the backlog that have been decoded.
    decoded: usize,
}

impl DataTypeFunctions for Decoder {
    fn size(&self) -> usize {
        let held = |stream: &Stream| stream.core.allocated() + stream.backlog.capacity();
        size_of::<Self>() + self.0.try_borrow().map_or(0, |stream| held(&stream))
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Decoder", ruby.class_object())?;
    class.define_singleton_method("new", function!(new, -1))?;
    class.define_method("feed", method!(feed, 1))?;
    class.define_method("closed?", method!(is_closed, 0))
}

fn new(ruby: &Ruby, arguments: &[Value]) -> Result<Decoder, Error> {
    let options = options::of_decoder(ruby, arguments)?;
    Ok(Decoder(RefCell::new(Stream::new(options))))
}

fn is_closed(decoder: &Decoder) -> bool {
    decoder.0.borrow().core.is_closed()
}

fn feed(ruby: &Ruby, decoder: Obj<Decoder>, bytes: Value) -> Result<Value, Error> {
    let bytes = string(ruby, bytes)?;
    let feeding = Feeding::begin(ruby, &decoder)?;
    if ruby.block_given() {
        feeding.yield_messages(ruby, bytes)?;
        Ok(decoder.as_value())
    } else {
        Ok(feeding.collect_messages(ruby, bytes)?.as_value())
    }
}

/// A call of `feed`. A second one before its end is refused.
struct Feeding<'a>(&'a RefCell<Stream>);

impl<'a> Feeding<'a> {
    fn begin(ruby: &Ruby, decoder: &'a Decoder) -> Result<Self, Error> {
        let mut stream = decoder.0.borrow_mut();
        if stream.is_feeding {
            let message = "this decoder is being fed already: feed it from one thread, \
                           and not from within its own block";
            return Err(Error::new(ruby.exception_runtime_error(), message));
        }
        stream.is_feeding = true;
        Ok(Self(&decoder.0))
    }

    fn yield_messages(&self, ruby: &Ruby, bytes: RString) -> Result<(), Error> {
        let names_reserved = self.0.borrow().names_reserved;
        let mut next = self.0.borrow_mut().first(bytes);
        loop {
            match next {
                Ok(None) => return Ok(()),
                Ok(Some(message)) => {
                    let (kind, payload, reserved) = parts(ruby, message)?;
                    let _: Value = if names_reserved {
                        let reserved = options::reserved_names(ruby, reserved);
                        ruby.yield_values((kind, payload, reserved))?
                    } else {
                        ruby.yield_values((kind, payload))?
                    };
                }
                Err(error) => return Err(payload_error(ruby, error)),
            }
            next = self.0.borrow_mut().next();
        }
    }

    fn collect_messages(&self, ruby: &Ruby, bytes: RString) -> Result<RArray, Error> {
        let names_reserved = self.0.borrow().names_reserved;
        let messages = ruby.ary_new();
        let mut next = self.0.borrow_mut().first(bytes);
        loop {
            match next {
                Ok(None) => return Ok(messages),
                Ok(Some(message)) => {
                    let (kind, payload, reserved) = parts(ruby, message)?;
                    let message = ruby.ary_from_iter([kind, payload]);
                    if names_reserved {
                        message.push(options::reserved_names(ruby, reserved))?;
                    }
                    messages.push(message)?;
                }
                Err(PayloadError::Fault(_)) if !messages.is_empty() => return Ok(messages),
                Err(error) => return Err(payload_error(ruby, error)),
            }
            next = self.0.borrow_mut().next();
        }
    }
}

impl Drop for Feeding<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().is_feeding = false;
    }
}

type Next = Result<Option<Message<RubyString>>, PayloadError<NoMemory>>;

impl Stream {
    fn new(options: Options) -> Self {
        Self {
            core: ws_unmask_core::Decoder::new(options),
            names_reserved: options.allow_reserved != 0,
            is_feeding: false,
            backlog: Vec::new(),
            decoded: 0,
        }
    }

    /// The first message that ends in `bytes`. What is behind it goes to the backlog: when the
    /// block has been yielded to, `bytes` may be another String.
    fn first(&mut self, bytes: RString) -> Next {
        let Self { core, backlog, .. } = self;
        let is_caught_up = backlog.is_empty();
        let next = with_bytes(bytes, |mut bytes| {
            let next = if is_caught_up { core.next(&mut bytes) } else { Ok(None) };
            backlog.try_reserve(bytes.len()).map_err(|error| PayloadError::Memory(error.into()))?;
            backlog.extend_from_slice(bytes);
            next
        });
        if is_caught_up { next } else { self.next() }
    }

    fn next(&mut self) -> Next {
        let mut rest = &self.backlog[self.decoded..];
        let next = self.core.next(&mut rest);
        self.decoded = self.backlog.len() - rest.len();
        if rest.is_empty() {
            self.backlog.clear();
            self.backlog.shrink_to(KEPT);
            self.decoded = 0;
        }
        next
    }
}

fn parts(ruby: &Ruby, message: Message<RubyString>) -> Result<(Value, Value, Reserved), Error> {
    static TEXT: LazyId = LazyId::new("text");
    static BINARY: LazyId = LazyId::new("binary");
    static PING: LazyId = LazyId::new("ping");
    static PONG: LazyId = LazyId::new("pong");
    static CLOSE: LazyId = LazyId::new("close");
    let (kind, payload, reserved) = match message {
        Message::Text { payload, reserved } => (&TEXT, payload.0.as_value(), reserved),
        Message::Binary { payload, reserved } => (&BINARY, payload.0.as_value(), reserved),
        Message::Ping(payload) => (&PING, payload.0.as_value(), 0),
        Message::Pong(payload) => (&PONG, payload.0.as_value(), 0),
        Message::Close { code, reason } => {
            let class: RClass = ruby
                .class_object()
                .const_get::<_, RModule>("WsUnmask")
                .and_then(|module| module.const_get("Close"))?;
            (&CLOSE, class.new_instance((code, reason.0))?, 0)
        }
    };
    Ok((LazyId::get_inner_with(kind, ruby).into_value_with(ruby), payload, reserved))
}
