//! `WsUnmask::Native::Inflater` and `Deflater`: whole payloads of compressed messages, for
//! integrations with libraries that deal with the frames by themselves.

use crate::arguments::{in_range, limit, string};
use crate::error::{encode_error, inflate_error};
use crate::ruby_memory::{HeldMemory, bytes_string, catching_jumps, with_bytes};
use core::cell::RefCell;
use magnus::{
    DataTypeFunctions, Error, RModule, RString, Ruby, TypedData, Value, function, method,
    prelude::*,
};
use ws_unmask_core::deflate;

/// The core is borrowed only between two calls into Ruby.
#[derive(TypedData)]
#[magnus(class = "WsUnmask::Native::Inflater", free_immediately, size)]
struct Inflater {
    core: RefCell<deflate::Inflater>,
    held: HeldMemory,
}

/// Likewise.
#[derive(TypedData)]
#[magnus(class = "WsUnmask::Native::Deflater", free_immediately, size)]
struct Deflater {
    core: RefCell<deflate::Deflater>,
    held: HeldMemory,
}

impl DataTypeFunctions for Inflater {
    fn size(&self) -> usize {
        size_of::<Self>() + self.core.try_borrow().map_or(0, |core| core.allocated())
    }
}

impl DataTypeFunctions for Deflater {
    fn size(&self) -> usize {
        size_of::<Self>() + self.core.try_borrow().map_or(0, |core| core.allocated())
    }
}

pub fn init(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Inflater", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Inflater::new, 1))?;
    class.define_method("inflate", method!(Inflater::inflate, 2))?;

    let class = native.define_class("Deflater", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Deflater::new, 3))?;
    class.define_method("deflate", method!(Deflater::deflate, 1))
}

impl Inflater {
    fn new(no_context_takeover: Value) -> Self {
        let core = RefCell::new(deflate::Inflater::new(no_context_takeover.to_bool()));
        Self { core, held: HeldMemory::default() }
    }

    fn inflate(ruby: &Ruby, it: &Self, payload: Value, most: Value) -> Result<RString, Error> {
        let payload = string(ruby, payload, "payload")?;
        let limit = limit(ruby, most, "max_message_size")?;
        let mut plain = Vec::new();
        let (inflated, allocated) = {
            let mut core = it.core.borrow_mut();
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            let inflated =
                with_bytes(payload, |payload| core.inflate_message(payload, &mut plain, most));
            (inflated, core.allocated())
        };
        inflated.map_err(|error| inflate_error(ruby, error, limit))?;
        catching_jumps(|| it.held.is(allocated))?;
        bytes_string(&plain)
    }
}

impl Deflater {
    fn new(
        ruby: &Ruby,
        window_bits: Value,
        no_context_takeover: Value,
        level: Value,
    ) -> Result<Self, Error> {
        let bits = in_range(ruby, window_bits, "window_bits", 8..=15)?;
        let level = in_range(ruby, level, "level", deflate::Deflater::LEVELS)?;
        let core = deflate::Deflater::new(bits, no_context_takeover.to_bool()).with_level(level);
        Ok(Self { core: RefCell::new(core), held: HeldMemory::default() })
    }

    fn deflate(ruby: &Ruby, it: &Self, plain: Value) -> Result<RString, Error> {
        let plain = string(ruby, plain, "plain")?;
        let mut payload = Vec::new();
        let (deflated, allocated) = {
            let mut core = it.core.borrow_mut();
            let deflated = with_bytes(plain, |plain| core.deflate(plain, &mut payload));
            (deflated, core.allocated())
        };
        deflated.map_err(|error| encode_error(ruby, error.into()))?;
        let string = catching_jumps(|| it.held.is(allocated)).and_then(|()| bytes_string(&payload));
        if string.is_err() {
            it.core.borrow_mut().forget();
        }
        string
    }
}
