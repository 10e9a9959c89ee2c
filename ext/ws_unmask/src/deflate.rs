//! `WsUnmask::Deflate`: the negotiation of compression.

use crate::arguments::{in_range, string, wrong_type};
use crate::error::negotiation_error;
use crate::ruby_memory::with_bytes;
use core::cell::Cell;
use core::fmt::Display;
use magnus::{
    DataTypeFunctions, Error, RModule, Ruby, Symbol, TryConvert, TypedData, Value, method,
    prelude::*, typed_data::Obj,
};
use ws_unmask_core::deflate::{Deflater, Inflater, MalformedHeader, Parameters, Role};

/// The parameters that this end asks for.
#[derive(Default, DataTypeFunctions, TypedData)]
#[magnus(class = "WsUnmask::Deflate", free_immediately, size)]
struct Deflate {
    wanted: Cell<Parameters>,
}

/// The parameters that both ends have agreed on.
#[derive(TypedData)]
#[magnus(class = "WsUnmask::Deflate::Agreement", free_immediately, frozen_shareable, size)]
pub struct Agreement {
    parameters: Parameters,
    role: Role,
    response: Option<String>,
}

impl DataTypeFunctions for Agreement {
    fn size(&self) -> usize {
        size_of::<Self>() + self.response.as_ref().map_or(0, String::capacity)
    }
}

impl Agreement {
    /// The argument `deflate` of decoders and encoders.
    pub fn optional<'a>(ruby: &Ruby, value: &'a Value) -> Result<Option<&'a Self>, Error> {
        if value.is_nil() {
            return Ok(None);
        }
        let expected = "a WsUnmask::Deflate::Agreement or nil";
        <&Self>::try_convert(*value)
            .map(Some)
            .map_err(|_| wrong_type(ruby, "deflate", expected, *value))
    }

    pub fn inflater(&self) -> Inflater {
        self.parameters.inflater(self.role)
    }

    pub fn deflater(&self) -> Deflater {
        self.parameters.deflater(self.role)
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Deflate", ruby.class_object())?;
    class.define_alloc_func::<Deflate>();
    class.define_private_method("set_up", method!(set_up, 4))?;
    class.define_private_method("initialize_copy", method!(initialize_copy, 1))?;
    class.define_method("accept", method!(accept, 1))?;
    class.define_method("offer", method!(|deflate: &Deflate| deflate.wanted.get().offer(), 0))?;
    class.define_method("confirm", method!(confirm, 1))?;

    let class = class.define_class("Agreement", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("role", method!(role, 0))?;
    class.define_method("response", method!(|it: &Agreement| it.response.clone(), 0))?;
    class.define_method(
        "server_no_context_takeover?",
        method!(|it: &Agreement| it.parameters.server_no_context_takeover, 0),
    )?;
    class.define_method(
        "client_no_context_takeover?",
        method!(|it: &Agreement| it.parameters.client_no_context_takeover, 0),
    )?;
    class.define_method(
        "server_max_window_bits",
        method!(|it: &Agreement| it.parameters.server_max_window_bits, 0),
    )?;
    class.define_method(
        "client_max_window_bits",
        method!(|it: &Agreement| it.parameters.client_max_window_bits, 0),
    )
}

fn set_up(
    ruby: &Ruby,
    deflate: &Deflate,
    server_no_context_takeover: Value,
    client_no_context_takeover: Value,
    server_max_window_bits: Value,
    client_max_window_bits: Value,
) -> Result<(), Error> {
    let bits = |value, name| in_range(ruby, value, name, 8..=15);
    deflate.wanted.set(Parameters {
        server_no_context_takeover: server_no_context_takeover.to_bool(),
        client_no_context_takeover: client_no_context_takeover.to_bool(),
        server_max_window_bits: bits(server_max_window_bits, "server_max_window_bits")?,
        client_max_window_bits: bits(client_max_window_bits, "client_max_window_bits")?,
    });
    Ok(())
}

fn initialize_copy(copy: &Deflate, original: &Deflate) {
    copy.wanted.set(original.wanted.get());
}

fn accept(ruby: &Ruby, deflate: &Deflate, header: Value) -> Result<Option<Obj<Agreement>>, Error> {
    let accepted = read(ruby, header, |header| deflate.wanted.get().accept(header))?;
    Ok(accepted.flatten().map(|accepted| {
        ruby.obj_wrap(Agreement {
            parameters: accepted.parameters,
            role: Role::Server,
            response: Some(accepted.response),
        })
    }))
}

fn confirm(ruby: &Ruby, deflate: &Deflate, header: Value) -> Result<Option<Obj<Agreement>>, Error> {
    let confirmed = read(ruby, header, |header| deflate.wanted.get().confirm(header))?;
    Ok(confirmed.flatten().map(|parameters| {
        ruby.obj_wrap(Agreement { parameters, role: Role::Client, response: None })
    }))
}

/// Reads a header, unless it is nil.
fn read<T, E: Display + From<MalformedHeader>>(
    ruby: &Ruby,
    header: Value,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, Error> {
    if header.is_nil() {
        return Ok(None);
    }
    let read = with_bytes(string(ruby, header, "header")?, |bytes| match str::from_utf8(bytes) {
        Ok(header) => read(header),
        Err(error) => Err(MalformedHeader { offset: error.valid_up_to() }.into()),
    });
    read.map(Some).map_err(|error| negotiation_error(ruby, error))
}

fn role(ruby: &Ruby, agreement: &Agreement) -> Symbol {
    ruby.to_symbol(match agreement.role {
        Role::Server => "server",
        Role::Client => "client",
    })
}
