//! `WsUnmask.unmask` and its relatives.

use crate::arguments::{self, Arguments, byte};
use crate::ruby_memory;
use magnus::{Error, RArray, RModule, RString, Ruby, Symbol, Value, function, prelude::*};

pub fn init(module: RModule) -> Result<(), Error> {
    for name in ["unmask", "mask"] {
        module.define_singleton_method(name, function!(unmask, -1))?;
    }
    for name in ["unmask!", "mask!"] {
        module.define_singleton_method(name, function!(unmask_in_place, -1))?;
    }
    module.define_singleton_method("unmask_bytes", function!(unmask_bytes, -1))?;
    module.define_singleton_method("simd_level", function!(simd_level, 0))
}

fn unmask(ruby: &Ruby, arguments: &[Value]) -> Result<Value, Error> {
    let Arguments { payload, key, offset } = Arguments::parse(ruby, arguments, arguments::payload)?;
    ruby_memory::unmasked(payload, key, offset)
}

fn unmask_in_place(ruby: &Ruby, arguments: &[Value]) -> Result<RString, Error> {
    let Arguments { payload, key, offset } = Arguments::parse(ruby, arguments, arguments::payload)?;
    ruby_memory::unmask_in_place(payload, key, offset)?;
    Ok(payload)
}

fn unmask_bytes(ruby: &Ruby, arguments: &[Value]) -> Result<RArray, Error> {
    let Arguments { payload, key, offset } =
        Arguments::parse(ruby, arguments, arguments::payload_array)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(payload.len()).map_err(|_| {
        Error::new(ruby.exception_no_mem_error(), "failed to allocate memory for the bytes")
    })?;
    for index in 0..payload.len() {
        bytes.push(byte(ruby, payload, index, "payload")?);
    }
    ws_unmask_core::unmask(&mut bytes, key, offset);
    ruby_memory::catching_jumps(|| ruby.ary_from_iter(bytes.iter().copied()))
}

fn simd_level(ruby: &Ruby) -> Symbol {
    ruby.to_symbol(ws_unmask_core::SimdLevel::best().name())
}
