//! What Ruby callers pass, checked, with errors that say what was wrong.

use crate::options;
use crate::ruby_memory::{self, Key};
use magnus::{Error, Integer, RArray, RString, Ruby, TryConvert, Value, prelude::*};
use ws_unmask_core::frame::{Header, Opcode, Rules};

/// `payload, key, offset = 0`, as every masking function takes them.
pub struct Arguments<P> {
    pub payload: P,
    pub key: Key,
    pub offset: usize,
}

impl<P> Arguments<P> {
    #[inline(always)]
    pub fn parse(
        ruby: &Ruby,
        arguments: &[Value],
        payload: fn(&Ruby, Value) -> Result<P, Error>,
    ) -> Result<Self, Error> {
        let (first, second, third) = match *arguments {
            [first, second] => (first, second, None),
            [first, second, third] => (first, second, Some(third)),
            _ => return Err(wrong_count(ruby, arguments.len())),
        };
        Ok(Self {
            payload: payload(ruby, first)?,
            key: key(ruby, second)?,
            offset: third.map_or(Ok(0), |third| offset(ruby, third))?,
        })
    }
}

/// `bytes, offset = 0, require_mask = true`, as `Frame.peek` takes them.
pub struct PeekArguments {
    pub bytes: RString,
    pub offset: usize,
    pub rules: Rules,
}

impl PeekArguments {
    #[inline(always)]
    pub fn parse(ruby: &Ruby, arguments: &[Value]) -> Result<Self, Error> {
        ruby.check_arity(arguments.len(), 1..=3)?;
        let rules = Rules {
            require_mask: arguments.get(2).is_none_or(|value| value.to_bool()),
            allow_reserved: 0,
        };
        Ok(Self {
            bytes: string(ruby, arguments[0])?,
            offset: arguments.get(1).map_or(Ok(0), |&value| offset(ruby, value))?,
            rules,
        })
    }
}

/// `opcode, payload, key = nil, fin = true, reserved = []`, as `Frame.encode` takes them.
pub struct EncodeArguments {
    pub payload: RString,
    pub header: Header,
}

impl EncodeArguments {
    #[inline(always)]
    pub fn parse(ruby: &Ruby, arguments: &[Value]) -> Result<Self, Error> {
        ruby.check_arity(arguments.len(), 2..=5)?;
        let opcode = opcode(ruby, arguments[0])?;
        let payload = string(ruby, arguments[1])?;
        let key = match arguments.get(2) {
            Some(value) if !value.is_nil() => Some(key(ruby, *value)?),
            _ => None,
        };
        let fin = arguments.get(3).is_none_or(|value| value.to_bool());
        let bits = arguments.get(4).map(|&value| RArray::try_convert(value)).transpose()?;
        let reserved = options::reserved(ruby, bits)?;
        let length = payload.len() as u64;
        if opcode.is_control() && (length > 125 || !fin) {
            let message = "a control frame has at most 125 bytes and is never a fragment";
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
        Ok(Self { payload, header: Header { fin, reserved, opcode, key, length } })
    }
}

#[cold]
fn wrong_count(ruby: &Ruby, count: usize) -> Error {
    ruby.check_arity(count, 2..=3).expect_err("it is neither 2 nor 3")
}

#[inline(always)]
pub fn string(ruby: &Ruby, value: Value) -> Result<RString, Error> {
    RString::from_value(value).ok_or_else(|| {
        let message = format!("payload must be a String, not {}", described(value));
        Error::new(ruby.exception_type_error(), message)
    })
}

pub fn array(ruby: &Ruby, value: Value) -> Result<RArray, Error> {
    RArray::from_value(value).ok_or_else(|| {
        let message = format!("payload must be an Array of Integers, not {}", described(value));
        Error::new(ruby.exception_type_error(), message)
    })
}

/// The element of an Array that stands for a byte.
pub fn byte(ruby: &Ruby, array: RArray, index: usize, name: &str) -> Result<u8, Error> {
    let element: Value = array.entry(index as isize)?;
    let Some(integer) = Integer::from_value(element) else {
        let message = format!("{name}[{index}] must be an Integer, not {}", described(element));
        return Err(Error::new(ruby.exception_type_error(), message));
    };
    integer.to_u8().map_err(|_| {
        let message = format!("{name}[{index}] is {integer}, which is not in 0..255");
        Error::new(ruby.exception_range_error(), message)
    })
}

#[inline(always)]
fn key(ruby: &Ruby, value: Value) -> Result<Key, Error> {
    if let Some(string) = RString::from_value(value) {
        ruby_memory::key(string).map_err(|len| wrong_key_length(ruby, len, "bytes"))
    } else {
        key_from_array(ruby, value)
    }
}

fn key_from_array(ruby: &Ruby, value: Value) -> Result<Key, Error> {
    let Some(array) = RArray::from_value(value) else {
        let message = format!(
            "key must be a String of 4 bytes or an Array of 4 Integers, not {}",
            described(value)
        );
        return Err(Error::new(ruby.exception_type_error(), message));
    };
    if array.len() != 4 {
        return Err(wrong_key_length(ruby, array.len(), "Integers"));
    }
    let mut key = [0; 4];
    for (index, slot) in key.iter_mut().enumerate() {
        *slot = byte(ruby, array, index, "key")?;
    }
    Ok(key)
}

#[cold]
fn wrong_key_length(ruby: &Ruby, len: usize, unit: &str) -> Error {
    let message = format!("key must have 4 {unit}, not {len}");
    Error::new(ruby.exception_arg_error(), message)
}

#[inline(always)]
fn offset(ruby: &Ruby, value: Value) -> Result<usize, Error> {
    let Some(integer) = Integer::from_value(value) else {
        let message = format!("offset must be an Integer, not {}", described(value));
        return Err(Error::new(ruby.exception_type_error(), message));
    };
    if let Ok(offset) = integer.to_usize() {
        return Ok(offset);
    }
    if integer.to_i64().is_ok_and(|offset| offset < 0) || !is_positive(integer)? {
        let message = format!("offset must not be negative, but is {integer}");
        return Err(Error::new(ruby.exception_arg_error(), message));
    }
    let message = format!("offset {integer} is over {}, the end of any payload", usize::MAX);
    Err(Error::new(ruby.exception_range_error(), message))
}

fn opcode(ruby: &Ruby, value: Value) -> Result<Opcode, Error> {
    Integer::from_value(value)
        .and_then(|integer| integer.to_u8().ok())
        .and_then(Opcode::new)
        .ok_or_else(|| {
            let message = format!("opcode must be one of 0, 1, 2, 8, 9 and 10, not {value:?}");
            Error::new(ruby.exception_arg_error(), message)
        })
}

fn is_positive(integer: Integer) -> Result<bool, Error> {
    integer.funcall("positive?", ())
}

fn described(value: Value) -> String {
    if value.is_nil() { "nil".to_owned() } else { value.class().to_string() }
}
