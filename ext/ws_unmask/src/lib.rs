//! The Ruby binding of `ws_unmask_core`: Ruby types in, Ruby types out, errors mapped. It contains
//! no protocol rules and no bit twiddling.

#![deny(unsafe_code)]

mod arguments;
mod codec;
mod decoder;
mod deflate;
mod encoder;
mod error;
mod frame;
mod masking;
mod native;
mod ruby_memory;
mod types;

use magnus::{Error, Module, Ruby, prelude::*};

#[magnus::init]
fn init(ruby: &Ruby) -> Result<(), Error> {
    ruby_memory::allow_ractors();
    let module = ruby.define_module("WsUnmask")?;
    let version = ruby.str_new(env!("CARGO_PKG_VERSION"));
    version.freeze();
    module.const_set("VERSION", version)?;
    types::init(ruby);
    masking::init(module)?;
    decoder::init(ruby, module)?;
    deflate::init(ruby, module)?;
    encoder::init(ruby, module)?;
    frame::init(ruby, module)?;
    #[cfg(feature = "panic_for_tests")]
    panic_for_tests::init(module)?;
    native::init(ruby, module)
}

/// `WsUnmask.panic!`, for the test of panics.
#[cfg(feature = "panic_for_tests")]
mod panic_for_tests {
    use magnus::{Error, Object, RModule, function};

    pub fn init(module: RModule) -> Result<(), Error> {
        module.define_singleton_method("panic!", function!(panic, 0))
    }

    fn panic() -> bool {
        panic!("for the test")
    }
}
