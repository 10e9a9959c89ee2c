//! The core's faults as Ruby's exceptions.

use crate::ruby_memory::NoMemory;
use magnus::{Error, ExceptionClass, RModule, Ruby, prelude::*};
use ws_unmask_core::{Fault, PayloadError};

/// The exception for a fault of the peer.
#[cold]
pub fn protocol_error(ruby: &Ruby, fault: Fault) -> Error {
    let name = match fault {
        Fault::NotMasked => "NotMaskedError",
        Fault::InvalidUtf8 => "InvalidPayloadError",
        Fault::FrameTooBig { .. } | Fault::MessageTooBig { .. } => "MessageTooBigError",
        _ => "ProtocolError",
    };
    let class = ruby
        .class_object()
        .const_get::<_, RModule>("WsUnmask")
        .and_then(|module| module.const_get::<_, ExceptionClass>(name));
    match class {
        Ok(class) => Error::new(class, fault.to_string()),
        Err(error) => error,
    }
}

#[cold]
pub fn payload_error(ruby: &Ruby, error: PayloadError<NoMemory>) -> Error {
    match error {
        PayloadError::Fault(fault) => protocol_error(ruby, fault),
        PayloadError::Memory(NoMemory::InRuby(error)) => error,
        PayloadError::Memory(NoMemory::InRust) => {
            Error::new(ruby.exception_no_mem_error(), "failed to allocate memory for a message")
        }
    }
}
