//! The Ruby binding of `ws_unmask_core`: Ruby types in, Ruby types out, errors mapped. It holds no
//! protocol rule and no bit twiddling.

#![deny(unsafe_code)]

mod arguments;
mod decoder;
mod error;
mod frame;
mod masking;
mod options;
mod ruby_memory;

use magnus::{Error, Ruby};

#[magnus::init]
fn init(ruby: &Ruby) -> Result<(), Error> {
    ruby_memory::allow_ractors();
    let module = ruby.define_module("WsUnmask")?;
    masking::init(module)?;
    decoder::init(ruby, module)?;
    frame::init(ruby, module)
}
