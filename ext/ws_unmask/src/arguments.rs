//! What Ruby callers pass, checked, with errors that say what was wrong.

use crate::ruby_memory::{self, Key};
use magnus::{Error, Integer, RArray, RString, Ruby, Value, prelude::*};

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

fn is_positive(integer: Integer) -> Result<bool, Error> {
    integer.funcall("positive?", ())
}

fn described(value: Value) -> String {
    if value.is_nil() { "nil".to_owned() } else { value.class().to_string() }
}
