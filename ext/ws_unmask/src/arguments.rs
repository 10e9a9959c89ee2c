//! Checks the arguments of Ruby callers; errors name the argument.

use crate::ruby_memory::{self, Key};
use core::ops::RangeInclusive;
use magnus::{
    Error, Integer, RArray, RHash, RString, Ruby, StaticSymbol, Symbol, Value, prelude::*,
    value::Lazy,
};
use ws_unmask_core::{Masking, Reserved, Rules, reserved_bit};

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
pub fn string(ruby: &Ruby, value: Value, name: &str) -> Result<RString, Error> {
    RString::from_value(value).ok_or_else(|| wrong_type(ruby, name, "a String", value))
}

#[inline(always)]
pub fn payload(ruby: &Ruby, value: Value) -> Result<RString, Error> {
    string(ruby, value, "payload")
}

pub fn payload_array(ruby: &Ruby, value: Value) -> Result<RArray, Error> {
    RArray::from_value(value)
        .ok_or_else(|| wrong_type(ruby, "payload", "an Array of Integers", value))
}

/// An element of an Array of bytes.
pub fn byte(ruby: &Ruby, array: RArray, index: usize, name: &str) -> Result<u8, Error> {
    let element: Value = array.entry(index as isize)?;
    let Some(integer) = Integer::from_value(element) else {
        return Err(wrong_type(ruby, &format!("{name}[{index}]"), "an Integer", element));
    };
    integer.to_u8().map_err(|_| {
        let message = format!("{name}[{index}] is {integer}, which is not in 0..255");
        Error::new(ruby.exception_range_error(), message)
    })
}

#[inline(always)]
pub fn key(ruby: &Ruby, value: Value) -> Result<Key, Error> {
    if let Some(string) = RString::from_value(value) {
        ruby_memory::key(string).map_err(|len| wrong_key_length(ruby, len, "bytes"))
    } else {
        key_from_array(ruby, value)
    }
}

/// A masking key, or nil for none.
#[inline(always)]
pub fn optional_key(ruby: &Ruby, value: Value) -> Result<Option<Key>, Error> {
    if value.is_nil() { Ok(None) } else { key(ruby, value).map(Some) }
}

fn key_from_array(ruby: &Ruby, value: Value) -> Result<Key, Error> {
    let Some(array) = RArray::from_value(value) else {
        let expected = "a String of 4 bytes or an Array of 4 Integers";
        return Err(wrong_type(ruby, "key", expected, value));
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
pub fn offset(ruby: &Ruby, value: Value) -> Result<usize, Error> {
    let Some(integer) = Integer::from_value(value) else {
        return Err(wrong_type(ruby, "offset", "an Integer", value));
    };
    if let Ok(offset) = integer.to_usize() {
        return Ok(offset);
    }
    if is_negative(integer)? {
        let message = format!("offset must not be negative, but is {integer}");
        return Err(Error::new(ruby.exception_arg_error(), message));
    }
    let message = format!("offset {integer} is over {}, the end of any payload", usize::MAX);
    Err(Error::new(ruby.exception_range_error(), message))
}

/// The keyword arguments that make rules: nil if not given, and for no limit.
pub struct RuleArguments {
    pub max_message_size: Value,
    pub max_frame_size: Value,
    pub require_mask: Value,
    pub forbid_mask: Value,
    pub allow_reserved: Value,
    pub validate_utf8: Value,
}

impl RuleArguments {
    pub fn rules(self, ruby: &Ruby) -> Result<Rules, Error> {
        Ok(Rules {
            max_message_size: limit(ruby, self.max_message_size, "max_message_size")?,
            max_frame_size: limit(ruby, self.max_frame_size, "max_frame_size")?,
            masking: if self.forbid_mask.to_bool() {
                Masking::Forbidden
            } else {
                required_if(self.require_mask)
            },
            allow_reserved: reserved(ruby, self.allow_reserved, "allow_reserved")?,
            validate_utf8: self.validate_utf8.to_bool(),
        })
    }
}

/// What `require_mask` means.
pub fn required_if(require_mask: Value) -> Masking {
    if require_mask.to_bool() { Masking::Required } else { Masking::Either }
}

/// A keyword that a method takes.
pub type Keyword = Lazy<StaticSymbol>;

/// `POSITIONAL` arguments, and the keywords of `names` that were given. A lookup for each name costs a
/// third of magnus's `scan_args` and `get_kwargs`.
pub fn with_keywords<const POSITIONAL: usize, const NAMES: usize>(
    ruby: &Ruby,
    arguments: &[Value],
    names: [&'static Keyword; NAMES],
) -> Result<([Value; POSITIONAL], [Option<Value>; NAMES]), Error> {
    let mut given = [None; NAMES];
    if let Ok(positional) = arguments.try_into() {
        return Ok((positional, given));
    }
    let (positional, keywords) = match arguments.split_last() {
        Some((last, positional)) if ruby_memory::has_keywords() => {
            (positional, RHash::from_value(*last))
        }
        _ => (arguments, None),
    };
    let count = positional.len();
    let Ok(positional) = positional.try_into() else {
        let wrong = ruby.check_arity(count, POSITIONAL..=POSITIONAL);
        return Err(wrong.expect_err("the count is another one"));
    };
    if let Some(keywords) = keywords {
        for (value, name) in given.iter_mut().zip(names) {
            *value = keywords.get(ruby.get_inner(name));
        }
        if keywords.len() != given.iter().flatten().count() {
            return Err(unknown_keyword(ruby, keywords, names));
        }
    }
    Ok((positional, given))
}

#[cold]
fn unknown_keyword<const NAMES: usize>(
    ruby: &Ruby,
    keywords: RHash,
    names: [&'static Keyword; NAMES],
) -> Error {
    let names = names.map(|name| ruby.get_inner(name).as_value());
    let is_known = |key: &Value| names.iter().any(|name| name.equal(*key).unwrap_or(false));
    let keys: Result<RArray, Error> = keywords.funcall("keys", ());
    let unknown = keys.map(|keys| keys.into_iter().find(|key| !is_known(key)));
    match unknown {
        Ok(Some(key)) => {
            let message = format!("unknown keyword: {}", described(key));
            Error::new(ruby.exception_arg_error(), message)
        }
        Ok(None) => Error::new(ruby.exception_arg_error(), "unknown keyword"),
        Err(error) => error,
    }
}

/// A size in bytes; nil for no limit.
pub fn limit(ruby: &Ruby, value: Value, name: &str) -> Result<u64, Error> {
    if value.is_nil() {
        return Ok(u64::MAX);
    }
    size(ruby, value, name, "an Integer of bytes or nil for no limit")
}

/// A size in bytes.
pub fn size(ruby: &Ruby, value: Value, name: &str, expected: &str) -> Result<u64, Error> {
    let Some(integer) = Integer::from_value(value) else {
        return Err(wrong_type(ruby, name, expected, value));
    };
    if is_negative(integer)? {
        let message = format!("{name} must not be negative, but is {integer}");
        return Err(Error::new(ruby.exception_arg_error(), message));
    }
    Ok(integer.to_u64().unwrap_or(u64::MAX)) // no stream is longer
}

pub fn in_range(
    ruby: &Ruby,
    value: Value,
    name: &str,
    range: RangeInclusive<u8>,
) -> Result<u8, Error> {
    let Some(integer) = Integer::from_value(value) else {
        return Err(wrong_type(ruby, name, "an Integer", value));
    };
    integer.to_u8().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let message =
            format!("{name} must be in {}..{}, not {integer}", range.start(), range.end());
        Error::new(ruby.exception_arg_error(), message)
    })
}

/// Reserved bits from their numbers (1 for RSV1).
pub fn reserved(ruby: &Ruby, value: Value, name: &str) -> Result<Reserved, Error> {
    let Some(numbers) = RArray::from_value(value) else {
        return Err(wrong_type(ruby, name, "an Array of 1, 2 and 3, for RSV1 to RSV3", value));
    };
    let mut reserved = 0;
    for index in 0..numbers.len() {
        let number: Value = numbers.entry(index as isize)?;
        let bit = Integer::from_value(number).and_then(|number| reserved_bit(number.to_u8().ok()?));
        reserved |= bit.ok_or_else(|| {
            let message = format!(
                "{name} must be of 1, 2 and 3, for RSV1 to RSV3, not {}",
                described(number)
            );
            Error::new(ruby.exception_arg_error(), message)
        })?;
    }
    Ok(reserved)
}

/// The numbers of reserved bits (1 for RSV1).
pub fn reserved_numbers(ruby: &Ruby, reserved: Reserved) -> RArray {
    let is_set = |number: &u8| reserved_bit(*number).is_some_and(|bit| reserved & bit != 0);
    ruby.ary_from_iter((1..=3u8).filter(is_set))
}

fn is_negative(integer: Integer) -> Result<bool, Error> {
    integer.funcall("negative?", ())
}

#[cold]
pub fn wrong_type(ruby: &Ruby, name: &str, expected: &str, value: Value) -> Error {
    let given = if value.is_nil() { "nil".to_owned() } else { value.class().to_string() };
    Error::new(ruby.exception_type_error(), format!("{name} must be {expected}, not {given}"))
}

/// A value for an error message. Only for Ruby's own classes: `inspect` of others may do anything, or
/// never return.
pub fn described(value: Value) -> String {
    let is_plain = value.is_nil()
        || Integer::from_value(value).is_some()
        || Symbol::from_value(value).is_some();
    if is_plain { format!("{value:?}") } else { value.class().to_string() }
}
