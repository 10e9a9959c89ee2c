//! Ruby's memory as Rust slices, and what else of Ruby's C API magnus has no safe form of: all of
//! the binding's unsafe code.
//!
//! One rule holds everywhere below: while a slice of a String's memory lives, nothing calls into
//! Ruby. So Ruby can neither change nor free nor move that memory, and no other Ruby thread runs.
//! The Strings themselves are arguments of the method that is running, thus on Ruby's stack, which
//! keeps them alive and in their place.

#![allow(unsafe_code, reason = "the one file that has any; each block says why it is sound")]

use core::mem::MaybeUninit;
use magnus::{
    Error, RString, Value,
    rb_sys::{AsRawValue, FromRawValue, protect},
};

/// Bytes up to which an allocation that fails means that nothing at all can be allocated any more.
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
pub fn unmasked(payload: RString, key: Key, offset: usize) -> Result<RString, Error> {
    let len = payload.len();
    // SAFETY: a null pointer asks for `len` bytes that nobody has written. `len` is a String's, so
    // it is no larger than Ruby allows.
    let new = || unsafe { rb_sys::rb_str_new(core::ptr::null(), len as _) };
    // A small one is allocated as all of magnus allocates (`Ruby::str_from_slice`): were there not
    // even memory for that, Ruby would jump over these frames, which hold nothing to drop. The 8 ns
    // of `protect` are a tenth of such a call.
    let raw = if len <= SMALL { new() } else { protect(new)? };
    // SAFETY: the String is new, so its `len` bytes are its own and nobody else reads or writes
    // them; MaybeUninit<u8> says that they are unwritten.
    let plain = unsafe {
        let pointer = rb_sys::RSTRING_PTR(raw).cast::<MaybeUninit<u8>>().cast_mut();
        core::slice::from_raw_parts_mut(pointer, len)
    };
    // SAFETY: both slices live until the end of this statement, without a call into Ruby.
    let masked = unsafe { payload.as_slice() };
    let _ascii = ws_unmask_core::unmask_into_uninit(plain, masked, key, offset);
    // SAFETY: `raw` is a String, and all of its bytes have been written.
    let value = unsafe { Value::from_raw(raw) };
    Ok(RString::from_value(value).expect("rb_str_new makes a String"))
}
