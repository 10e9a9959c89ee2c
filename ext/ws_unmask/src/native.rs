//! `WsUnmask::Native`: the private functions for the integrations. They are called in the hottest
//! loops, so arguments are positional and results flat.

mod take;

use crate::arguments::{offset, optional_key, required_if, string};
use crate::codec;
use crate::error::{cannot_be_sent, decode_error};
use crate::ruby_memory::{self, FrameList, RubyString, catching_jumps, with_bytes};
use crate::types;
use magnus::{Error, RModule, Ruby, Value, function, prelude::*};
use take::{take_frame, take_message};
use ws_unmask_core::frame::{Frame, Header, Opcode, check_payload};
use ws_unmask_core::{DecodeError, Masking, MessageState, Reserved, Rules};

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let native = module.define_module("Native")?;
    native.define_singleton_method("whole_frames", function!(whole_frames, 6))?;
    native.define_singleton_method("whole_frame", function!(whole_frame, 4))?;
    native.define_singleton_method("frame", function!(frame, 5))?;
    native.define_singleton_method("take_frame", function!(take_frame, 4))?;
    native.define_singleton_method("take_message", function!(take_message, 2))?;
    native.define_singleton_method("text?", function!(is_text, 2))?;
    codec::init(ruby, native)
}

/// All complete, valid frames in `buffer` from `offset` on, but at most
/// [`FrameList::MOST`]: one Array of first byte, payload and end for each of them, or nil.
///
/// It stops before anything else, without raising: the calling library handles that in its own way.
fn whole_frames(
    ruby: &Ruby,
    buffer: Value,
    start: Value,
    require_mask: Value,
    allow_reserved: Reserved,
    max_message_size: u64,
    message_size: Option<u64>,
) -> Result<Value, Error> {
    let buffer = string(ruby, buffer, "buffer")?;
    let start = offset(ruby, start)?;
    let rules = Rules {
        masking: required_if(require_mask),
        allow_reserved,
        max_message_size,
        ..Rules::default()
    };
    let state =
        message_size.map_or(MessageState::Between, |size| MessageState::Unfinished { size });
    let found = catching_jumps(|| {
        with_bytes(buffer, |bytes| {
            let mut frames = FrameList::new();
            find_frames(bytes, start, &rules, state, &mut frames).map(|()| frames)
        })
    })?;
    found.map(FrameList::into_value).map_err(|error| decode_error(ruby, error))
}

fn find_frames(
    bytes: &[u8],
    mut start: usize,
    rules: &Rules,
    mut state: MessageState,
    frames: &mut FrameList,
) -> Result<(), DecodeError<ruby_memory::NoMemory>> {
    while !frames.is_full()
        && let Some(rest) = bytes.get(start..)
        && let Ok(Some(frame)) = Frame::parse_next(rest, rules, state)
    {
        if frame.header.opcode.is_control() && counts_as_too_big(&frame, rules, state) {
            break;
        }
        let payload: RubyString = match frame.payload() {
            Ok(payload) => payload,
            Err(DecodeError::Protocol(_)) => break,
            Err(error) => return Err(error),
        };
        start += frame.size();
        state = state.after(&frame.header);
        frames.push(rest[0], payload, start);
    }
    Ok(())
}

/// The first of [`whole_frames`], ignoring what came before it; masked or not, as `masked` says.
fn whole_frame(
    ruby: &Ruby,
    buffer: Value,
    start: Value,
    masked: Value,
    allow_reserved: Reserved,
) -> Result<Value, Error> {
    let buffer = string(ruby, buffer, "buffer")?;
    let start = offset(ruby, start)?;
    let masking = if masked.to_bool() { Masking::Required } else { Masking::Forbidden };
    let rules = Rules { masking, allow_reserved, ..Rules::default() };
    let found = catching_jumps(|| {
        with_bytes(buffer, |bytes| {
            let mut frames = FrameList::new();
            if let Some(rest) = bytes.get(start..)
                && let Ok(Some(frame)) = Frame::parse(rest, &rules)
            {
                match frame.payload() {
                    Ok(payload) => frames.push(rest[0], payload, start + frame.size()),
                    Err(DecodeError::Protocol(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(frames)
        })
    })?;
    found.map(FrameList::into_value).map_err(|error| decode_error(ruby, error))
}

/// Message limits do not apply to control frames, but some libraries count them: frames that a
/// library may refuse are left to it.
fn counts_as_too_big(frame: &Frame<'_>, rules: &Rules, state: MessageState) -> bool {
    let before = match state {
        MessageState::Unfinished { size } => size,
        _ => 0,
    };
    before.saturating_add(frame.header.length) > rules.max_message_size
}

/// A frame with any content: the calling library has checked what it wants to check.
fn frame(
    ruby: &Ruby,
    opcode: Value,
    payload: Value,
    key: Value,
    fin: Value,
    reserved: Reserved,
) -> Result<Value, Error> {
    let payload = string(ruby, payload, "payload")?;
    let header = Header {
        fin: fin.to_bool(),
        reserved,
        opcode: types::opcode(ruby, opcode)?,
        key: optional_key(ruby, key)?,
        length: payload.len() as u64,
    };
    header.check().map_err(|error| cannot_be_sent(ruby, error))?;
    ruby_memory::framed(header, payload)
}

/// Whether `bytes` are UTF-8; at their end, a part of a character is allowed unless they are the last.
fn is_text(ruby: &Ruby, bytes: Value, last: bool) -> Result<bool, Error> {
    let bytes = string(ruby, bytes, "bytes")?;
    let length = bytes.len() as u64;
    let header = Header { fin: last, reserved: 0, opcode: Opcode::Text, key: None, length };
    Ok(with_bytes(bytes, |bytes| check_payload(&header, bytes)).is_ok())
}
