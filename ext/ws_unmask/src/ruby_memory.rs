//! Ruby's memory as Rust slices, and what else of Ruby's C API magnus has no safe form of: all of
//! the binding's unsafe code.
//!
//! One rule holds everywhere below: while a slice of a String's memory lives, nothing calls into
//! Ruby. So Ruby can neither change nor free nor move that memory, and no other Ruby thread runs.
//! ([`with_bytes`] has the one exception, and says why it is sound.)

#![allow(unsafe_code, reason = "the one file that has any; each block says why it is sound")]

use core::mem::MaybeUninit;
use magnus::{
    Error, RString, Value,
    encoding::Coderange,
    rb_sys::{AsRawValue, FromRawValue, protect},
};
use std::collections::TryReserveError;
use ws_unmask_core::frame::Header;
use ws_unmask_core::{Content, Masked, Payload, PayloadError};

/// Bytes up to which an allocation fails only if nothing at all can be allocated any more.
const SMALL: usize = 4 << 10;

/// A masking key.
pub type Key = [u8; 4];

/// Tells Ruby that several Ractors may use the extension at once: it keeps no state of its own.
pub fn allow_ractors() {
    // SAFETY: sets a flag for the extension that is being loaded; called from its Init function.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}

/// The bytes of a key, or how many bytes there are instead of four.
#[inline]
pub fn key(string: RString) -> Result<Key, usize> {
    // SAFETY: the slice lives until the bytes are copied, without a call into Ruby.
    let bytes = unsafe { string.as_slice() };
    bytes.try_into().map_err(|_| bytes.len())
}

/// Unmasks `payload` where it lies. A String whose memory is shared gets its own first.
///
/// Raises FrozenError for a frozen String and RuntimeError for one that is locked by an IO; it is
/// unchanged then.
#[inline]
pub fn unmask_in_place(payload: RString, key: Key, offset: usize) -> Result<(), Error> {
    let raw = payload.as_raw();
    protect(|| {
        // SAFETY: `raw` is a String. What this may raise, `protect` catches.
        unsafe { rb_sys::rb_str_modify(raw) };
        raw
    })?;
    // SAFETY: after rb_str_modify the memory belongs to this String alone, may be written, and
    // Ruby's cached knowledge of its content is gone. Pointer and length are read only now, belong
    // together, and hold while `bytes` lives, for nothing calls into Ruby until then.
    let bytes = unsafe {
        let pointer = rb_sys::RSTRING_PTR(raw).cast::<u8>().cast_mut();
        core::slice::from_raw_parts_mut(pointer, rb_sys::RSTRING_LEN(raw) as usize)
    };
    ws_unmask_core::unmask(bytes, key, offset);
    Ok(())
}

/// A new String, in ASCII-8BIT, of the unmasked bytes of `payload`.
///
/// Raises NoMemoryError if Ruby has no memory for it.
#[inline]
pub fn unmasked(payload: RString, key: Key, offset: usize) -> Result<Value, Error> {
    // Were there not even memory for a small String, Ruby would jump over the frames of this call,
    // which hold nothing to drop. All of magnus allocates like this (`Ruby::str_from_slice`), and
    // the 8 ns of `protect` would be a tenth of the call.
    let on_failure = if payload.len() <= SMALL { OnFailure::Jump } else { OnFailure::Return };
    let (string, _ascii) = new_string(payload.len(), on_failure, |plain| {
        // SAFETY: the slice lives until it has been unmasked, without a call into Ruby.
        let masked = unsafe { payload.as_slice() };
        ws_unmask_core::unmask_into_uninit(plain, masked, key, offset)
    })?;
    stays_alive_until_here(payload);
    Ok(string)
}

/// A new String, in ASCII-8BIT: a frame with `header` and, masked if that has a key, `payload`.
///
/// Raises NoMemoryError if Ruby has no memory for it.
#[inline]
pub fn framed(header: Header, payload: RString) -> Result<Value, Error> {
    let (bytes, size) = header.encode();
    let (string, ()) = new_string(size + payload.len(), OnFailure::Return, |frame| {
        // SAFETY: the slice lives until it has been copied, without a call into Ruby.
        let payload = unsafe { payload.as_slice() };
        let (start, rest) = frame.split_at_mut(size);
        start.write_copy_of_slice(&bytes[..size]);
        match header.key {
            Some(key) => _ = ws_unmask_core::unmask_into_uninit(rest, payload, key, 0),
            None => _ = rest.write_copy_of_slice(payload),
        }
    })?;
    stays_alive_until_here(payload);
    Ok(string)
}

/// Hands the bytes of `string` to `read`, which may ask Ruby for Strings, but for nothing else.
///
/// That exception to the rule above is sound: to allocate a String runs no Ruby code and no other
/// thread, and the collector neither frees nor moves what it finds on the stack.
#[inline]
pub fn with_bytes<T>(string: RString, read: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: as said above; `string` is on the stack until `read` has returned.
    let result = read(unsafe { string.as_slice() });
    stays_alive_until_here(string);
    result
}

/// What RB_GC_GUARD is to C: up to this call `value` is on the stack, where the collector finds it,
/// even if only its memory or a copy on the heap is used meanwhile.
#[inline]
pub fn stays_alive_until_here<T>(value: T) {
    core::hint::black_box(value);
}

/// A Ruby String as the place of a payload: bytes in ASCII-8BIT, texts in UTF-8 with what has been
/// found out about their bytes, so that Ruby need not look at them again.
pub struct RubyString(pub RString);

/// There is no memory for a payload.
pub enum NoMemory {
    InRuby(Error),
    InRust,
}

impl From<TryReserveError> for NoMemory {
    fn from(_: TryReserveError) -> Self {
        Self::InRust
    }
}

impl Payload for RubyString {
    type Error = NoMemory;

    #[inline]
    fn unmask(masked: Masked<'_>) -> Result<Self, PayloadError<NoMemory>> {
        let (string, content) =
            new_string(masked.len(), OnFailure::Return, |plain| masked.unmask_into(plain))
                .map_err(|error| PayloadError::Memory(NoMemory::InRuby(error)))?;
        Ok(Self(labelled(string, content?)))
    }

    fn assembled(plain: Vec<u8>, content: Content) -> Result<Self, NoMemory> {
        let (string, ()) = new_string(plain.len(), OnFailure::Return, |place| {
            place.write_copy_of_slice(&plain);
        })
        .map_err(NoMemory::InRuby)?;
        Ok(Self(labelled(string, content)))
    }
}

/// What happens when Ruby has no memory for a String.
enum OnFailure {
    /// The function returns the NoMemoryError.
    Return,
    /// Ruby raises it at once, over all frames of the call; none of them may have a destructor.
    Jump,
}

/// A new String in ASCII-8BIT whose `len` bytes `fill` writes. All of them, if the String is to be
/// seen by anybody; `fill` calls nothing of Ruby's.
#[inline(always)]
fn new_string<T>(
    len: usize,
    on_failure: OnFailure,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> T,
) -> Result<(Value, T), Error> {
    // SAFETY: a null pointer asks for `len` bytes that nobody has written. `len` is that of a slice
    // or a String, so it is no larger than Ruby allows.
    let new = || unsafe { rb_sys::rb_str_new(core::ptr::null(), len as _) };
    let raw = match on_failure {
        OnFailure::Return => protect(new)?,
        OnFailure::Jump => new(),
    };
    // SAFETY: the String is new, so its `len` bytes are its own and nobody else reads or writes
    // them; MaybeUninit<u8> says that they are unwritten.
    let filled = fill(unsafe {
        let pointer = rb_sys::RSTRING_PTR(raw).cast::<MaybeUninit<u8>>().cast_mut();
        core::slice::from_raw_parts_mut(pointer, len)
    });
    // SAFETY: `raw` is what rb_str_new returned.
    Ok((unsafe { Value::from_raw(raw) }, filled))
}

/// Gives a new String the encoding of its content, and Ruby's own mark for what is known of it.
#[inline]
fn labelled(string: Value, content: Content) -> RString {
    let string = RString::from_value(string).expect("new_string makes a String");
    let coderange = match content {
        Content::Bytes => return string,
        Content::Ascii => Coderange::SevenBit,
        Content::Utf8 => Coderange::Valid,
        Content::UncheckedText => Coderange::Unknown,
    };
    // SAFETY: the String is new and not frozen, so this raises nothing; the index is UTF-8's. The
    // code range is what the core has proved of these bytes in UTF-8.
    unsafe {
        rb_sys::rb_enc_associate_index(string.as_raw(), rb_sys::rb_utf8_encindex());
        string.enc_coderange_set(coderange);
    }
    string
}
