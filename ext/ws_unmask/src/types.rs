//! The Symbols of the types of frames and messages.

use crate::arguments::described;
use magnus::{
    Error, Integer, Ruby, StaticSymbol, Value, prelude::*, rb_sys::AsRawValue, value::Lazy,
};
use ws_unmask_core::frame::Opcode;

static CONTINUATION: Lazy<StaticSymbol> = Lazy::new(|ruby| ruby.sym_new("continuation"));
static TEXT: Lazy<StaticSymbol> = Lazy::new(|ruby| ruby.sym_new("text"));
static BINARY: Lazy<StaticSymbol> = Lazy::new(|ruby| ruby.sym_new("binary"));
static CLOSE: Lazy<StaticSymbol> = Lazy::new(|ruby| ruby.sym_new("close"));
static PING: Lazy<StaticSymbol> = Lazy::new(|ruby| ruby.sym_new("ping"));
static PONG: Lazy<StaticSymbol> = Lazy::new(|ruby| ruby.sym_new("pong"));

const ALL: [Opcode; 6] =
    [Opcode::Continuation, Opcode::Text, Opcode::Binary, Opcode::Close, Opcode::Ping, Opcode::Pong];

/// Creates the Symbols once, so that no thread or Ractor has to.
pub fn init(ruby: &Ruby) {
    for opcode in ALL {
        symbol(ruby, opcode);
    }
}

#[inline]
pub fn symbol(ruby: &Ruby, opcode: Opcode) -> Value {
    let symbol = ruby.get_inner(match opcode {
        Opcode::Continuation => &CONTINUATION,
        Opcode::Text => &TEXT,
        Opcode::Binary => &BINARY,
        Opcode::Close => &CLOSE,
        Opcode::Ping => &PING,
        Opcode::Pong => &PONG,
    });
    symbol.as_value()
}

/// The opcode for a type: a Symbol, or the opcode itself.
#[inline]
pub fn opcode(ruby: &Ruby, value: Value) -> Result<Opcode, Error> {
    let found = match Integer::from_value(value) {
        Some(integer) => integer.to_u8().ok().and_then(Opcode::new),
        // There is only one Symbol of a name, but not each is what magnus calls static.
        None => {
            let is_it = |opcode: &Opcode| symbol(ruby, *opcode).as_raw() == value.as_raw();
            ALL.into_iter().find(is_it)
        }
    };
    found.ok_or_else(|| {
        let message = format!(
            "type must be :continuation, :text, :binary, :close, :ping or :pong, or an opcode (0 to \
             2, 8 to 10), not {}",
            described(value)
        );
        Error::new(ruby.exception_arg_error(), message)
    })
}
