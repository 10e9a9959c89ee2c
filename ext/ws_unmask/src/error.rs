//! The core's errors as Ruby's exceptions.

use crate::ruby_memory::NoMemory;
use core::fmt::Display;
use magnus::{Error, Exception, ExceptionClass, RClass, RModule, Ruby, prelude::*};
use ws_unmask_core::deflate::InflateError;
use ws_unmask_core::{DecodeError, EncodeError, ProtocolError, Violation};

#[cold]
pub fn protocol_error(ruby: &Ruby, error: ProtocolError) -> Error {
    let name = match error.kind {
        Violation::NotMasked => "NotMaskedError",
        Violation::InvalidUtf8 | Violation::InvalidDeflate => "InvalidPayloadError",
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
        DecodeError::Memory(NoMemory::InRust) => no_memory(ruby),
    }
}

/// Of a message by itself, outside of any stream, so the offset means nothing.
#[cold]
pub fn inflate_error(ruby: &Ruby, error: InflateError, limit: u64) -> Error {
    let kind = match error {
        InflateError::Memory(_) => return no_memory(ruby),
        InflateError::Invalid => Violation::InvalidDeflate,
        InflateError::TooBig => Violation::MessageTooBig { size: limit.saturating_add(1), limit },
    };
    protocol_error(ruby, ProtocolError { kind, offset: 0 })
}

#[cold]
pub fn encode_error(ruby: &Ruby, error: EncodeError) -> Error {
    match error {
        EncodeError::Protocol(error) => cannot_be_sent(ruby, error),
        EncodeError::Memory(_) => no_memory(ruby),
    }
}

#[cold]
fn no_memory(ruby: &Ruby) -> Error {
    Error::new(ruby.exception_no_mem_error(), "failed to allocate memory for a message")
}

#[cold]
pub fn negotiation_error(ruby: &Ruby, error: impl Display) -> Error {
    let class = ruby
        .class_object()
        .const_get::<_, RModule>("WsUnmask")
        .and_then(|module| module.const_get::<_, ExceptionClass>("NegotiationError"));
    class.map_or_else(|error| error, |class| Error::new(class, error.to_string()))
}

/// Why a receiver would refuse a frame.
#[cold]
pub fn cannot_be_sent(ruby: &Ruby, error: ProtocolError) -> Error {
    Error::new(ruby.exception_arg_error(), error.kind.to_string())
}
