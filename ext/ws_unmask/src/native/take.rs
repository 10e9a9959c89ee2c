//! What protocol-websocket's classes receive, taken out of their stream's buffer.
//!
//! If there is nothing to take, the buffer is unchanged, and the result is nil if more bytes are
//! needed, the payload's length if that is over the limit, and false for everything that is left to
//! the library.

use crate::arguments::string;
use crate::ruby_memory::{
    RubyString, catching_jumps, drop_bytes, new_bytes, new_object, with_bytes,
};
use magnus::value::{Id, LazyId};
use magnus::{Error, RArray, RClass, Ruby, Value, prelude::*};
use ws_unmask_core::frame::{Frame, Header};
use ws_unmask_core::{Masking, Rules, Violation};

/// The longest payload that is waited for as a whole. The library reads a longer one by its length.
const MOST_WAITED_FOR: u64 = 64 << 10;

enum Found {
    /// The result, and its size in the buffer.
    Whole(Value, usize),
    Part,
    /// A payload of so many bytes, which is over the limit.
    TooBig(u64),
    /// A violation, a part of a large frame, or not of the kind requested.
    Other,
}

/// A frame: an object of the class that `classes` has for its opcode, with the instance variables
/// that the library's `initialize` sets, and the payload as it came.
pub fn take_frame(
    ruby: &Ruby,
    buffer: Value,
    classes: RArray,
    max_frame_size: Option<u64>,
    with_length: bool,
) -> Result<Value, Error> {
    let rules = Rules { allow_reserved: 7, ..rules(max_frame_size) };
    take(ruby, buffer, |bytes| {
        whole(bytes, &rules, |frame, masked| {
            let class = classes.entry(frame.header.opcode as isize).ok()?;
            Some(frame_object(ruby, class, &frame.header, masked, with_length))
        })
    })
}

/// The payload of a message that is a single frame, without reserved bits: in UTF-8 if it is text,
/// in ASCII-8BIT if it is binary.
pub fn take_message(
    ruby: &Ruby,
    buffer: Value,
    max_frame_size: Option<u64>,
) -> Result<Value, Error> {
    let rules = rules(max_frame_size);
    take(ruby, buffer, |bytes| match bytes.first() {
        None => Found::Part,
        Some(0x81 | 0x82) => whole(bytes, &rules, |frame, _| {
            let RubyString(payload) = frame.payload().ok()?;
            Some(payload.as_value())
        }),
        Some(_) => Found::Other,
    })
}

fn rules(max_frame_size: Option<u64>) -> Rules {
    let max_frame_size = max_frame_size.unwrap_or(u64::MAX);
    Rules { masking: Masking::Either, max_frame_size, ..Rules::default() }
}

/// `find` is called within [`catching_jumps`] and [`with_bytes`].
#[inline(always)]
fn take(ruby: &Ruby, buffer: Value, find: impl FnOnce(&[u8]) -> Found) -> Result<Value, Error> {
    let buffer = string(ruby, buffer, "buffer")?;
    if buffer.is_frozen() {
        return Ok(ruby.qfalse().as_value());
    }
    let found = catching_jumps(|| {
        let found = with_bytes(buffer, find);
        if let Found::Whole(_, size) = found {
            drop_bytes(buffer, size);
        }
        found
    })?;
    Ok(match found {
        Found::Whole(taken, _) => taken,
        Found::Part => ruby.qnil().as_value(),
        Found::TooBig(length) => ruby.integer_from_u64(length).as_value(),
        Found::Other => ruby.qfalse().as_value(),
    })
}

/// The frame at the start of `bytes` as `convert` makes something of it and its masked payload.
#[inline(always)]
fn whole(
    bytes: &[u8],
    rules: &Rules,
    convert: impl FnOnce(Frame<'_>, &[u8]) -> Option<Value>,
) -> Found {
    let (header, size) = match Header::parse(bytes, rules) {
        Ok(Some(found)) => found,
        Ok(None) => return Found::Part,
        Err(error) => {
            return match error.kind {
                Violation::FrameTooBig { size, .. } => Found::TooBig(size),
                _ => Found::Other,
            };
        }
    };
    // The library's limit holds for control frames, too.
    if header.length > rules.max_frame_size {
        return Found::TooBig(header.length);
    }
    let rest = &bytes[size..];
    if header.length > rest.len() as u64 {
        let is_waited_for = header.length <= MOST_WAITED_FOR;
        return if is_waited_for { Found::Part } else { Found::Other };
    }
    let masked = &rest[..header.length as usize];
    let converted = Frame::from_parts(header, masked).and_then(|frame| convert(frame, masked));
    converted.map_or(Found::Other, |value| Found::Whole(value, size + masked.len()))
}

#[inline(always)]
fn frame_object(
    ruby: &Ruby,
    class: RClass,
    header: &Header,
    payload: &[u8],
    with_length: bool,
) -> Value {
    static NAMES: [LazyId; 6] = [
        LazyId::new("@finished"),
        LazyId::new("@flags"),
        LazyId::new("@opcode"),
        LazyId::new("@mask"),
        LazyId::new("@length"),
        LazyId::new("@payload"),
    ];
    let payload = new_bytes(payload);
    let no = ruby.qfalse().as_value();
    let values = [
        if header.fin { ruby.qtrue().as_value() } else { no },
        ruby.integer_from_i64(header.reserved.into()).as_value(),
        ruby.integer_from_i64(header.opcode as i64).as_value(),
        header.key.map_or(no, |key| new_bytes(&key)),
        ruby.integer_from_u64(header.length).as_value(),
        payload,
    ];
    let variable = |index: usize| {
        let id: Id = LazyId::get_inner_with(&NAMES[index], ruby);
        (id, values[index])
    };
    if with_length {
        new_object(class, [0, 1, 2, 3, 4, 5].map(variable))
    } else {
        new_object(class, [0, 1, 2, 3, 5].map(variable))
    }
}
