//! The core's errors as Ruby's exceptions.

use crate::ruby_memory::NoMemory;
use magnus::{Error, Exception, RClass, RModule, Ruby, prelude::*};
use ws_unmask_core::{DecodeError, ProtocolError, Violation};

#[cold]
pub fn protocol_error(ruby: &Ruby, error: ProtocolError) -> Error {
    let name = match error.kind {
        Violation::NotMasked => "NotMaskedError",
        Violation::InvalidUtf8 => "InvalidPayloadError",
        Violation::FrameTooBig { .. } | Violation::MessageTooBig { .. } => "MessageTooBigError",
        _ => "ProtocolError",
    };
    let exception = ruby
        .class_object()
        .const_get::<_, RModule>("WsUnmask")
        .and_then(|module| module.const_get::<_, RClass>(name))
        .and_then(|class| {
            class.funcall::<_, _, Exception>("new", (error.kind.to_string(), error.offset))
        });
    exception.map_or_else(|error| error, Error::from)
}

#[cold]
pub fn decode_error(ruby: &Ruby, error: DecodeError<NoMemory>) -> Error {
    match error {
        DecodeError::Protocol(error) => protocol_error(ruby, error),
        DecodeError::Memory(NoMemory::InRuby(error)) => error,
        DecodeError::Memory(NoMemory::InRust) => {
            Error::new(ruby.exception_no_mem_error(), "failed to allocate memory for a message")
        }
    }
}

/// What a frame would be refused for by whoever receives it.
#[cold]
pub fn cannot_be_sent(ruby: &Ruby, error: ProtocolError) -> Error {
    Error::new(ruby.exception_arg_error(), error.kind.to_string())
}
