//! All of the binding's unsafe code: Ruby's memory as Rust slices, and the parts of Ruby's C API that
//! magnus does not wrap.
//!
//! Two rules apply to everything below.
//!
//! While a slice of a String's memory lives, nothing calls into Ruby. So Ruby can neither change nor
//! free nor move that memory, and no other Ruby thread runs. ([`with_bytes`] has the one exception,
//! and says why it is sound.)
//!
//! When Ruby raises, it jumps over the stack frames of Rust functions up to the next `protect`,
//! without dropping their values. So calls that may raise are protected, or made only where no stack
//! frame in between has a value to drop ([`catching_jumps`]).

#![allow(unsafe_code, reason = "the one file that has any; each block says why it is sound")]

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicPtr, Ordering};
use magnus::{
    Error, RClass, RString, TryConvert, TypedData, Value,
    encoding::Coderange,
    prelude::*,
    rb_sys::{AsRawId, AsRawValue, FromRawValue, protect},
    value::Id,
};
use std::collections::TryReserveError;
use std::panic::{catch_unwind, resume_unwind};
use ws_unmask_core::frame::Header;
use ws_unmask_core::{Content, DecodeError, MaskedPayload, Payload};

/// An allocation of up to this many bytes fails only if nothing can be allocated anymore.
const SMALL: usize = 4 << 10;

/// A masking key.
pub type Key = [u8; 4];

/// Tells Ruby that several Ractors may use the extension at once: it has no global state.
pub fn allow_ractors() {
    // SAFETY: sets a flag for the extension that is being loaded; called from its Init function.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}

/// The bytes of a key, or their number if it is not four.
#[inline]
pub fn key(string: RString) -> Result<Key, usize> {
    // SAFETY: the slice lives until the bytes are copied, without a call into Ruby.
    let bytes = unsafe { string.as_slice() };
    bytes.try_into().map_err(|_| bytes.len())
}

/// Unmasks `payload` in place. A String that shares its memory gets its own first.
///
/// Raises FrozenError for a frozen String and RuntimeError for one that is locked by an IO; the String
/// is then unchanged.
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
/// Raises NoMemoryError if there is not enough memory.
#[inline]
pub fn unmasked(payload: RString, key: Key, offset: usize) -> Result<Value, Error> {
    // Without memory for even a small String, Ruby would jump over the stack frames of this call,
    // which have nothing to drop. All of magnus allocates like this (`Ruby::str_from_slice`), and
    // the 8 ns of `protect` would be a tenth of the call.
    let len = payload.len();
    let raw = if len <= SMALL { new_string(len) } else { protect(|| new_string(len))? };
    let (string, _ascii) = filled(raw, len, |plain| {
        // SAFETY: the slice lives until it is unmasked, without a call into Ruby.
        let masked = unsafe { payload.as_slice() };
        ws_unmask_core::unmask_into_uninit(plain, masked, key, offset)
    });
    gc_guard(payload);
    Ok(string.as_value())
}

/// A new String, in ASCII-8BIT: a frame with `header` and, masked if that has a key, `payload`.
///
/// Raises NoMemoryError if there is not enough memory.
#[inline]
pub fn framed(header: Header, payload: RString) -> Result<Value, Error> {
    with_bytes(payload, |payload| framed_bytes(header, payload))
}

/// [`framed`], with a payload that may be in Rust's memory. A caller with values to drop calls it
/// within [`catching_jumps`].
#[inline]
pub fn framed_bytes(header: Header, payload: &[u8]) -> Result<Value, Error> {
    let (bytes, size) = header.encode();
    let len = size + payload.len();
    let raw = if len <= SMALL { new_string(len) } else { protect(|| new_string(len))? };
    let (string, ()) = filled(raw, len, |frame| {
        let (start, rest) = frame.split_at_mut(size);
        start.write_copy_of_slice(&bytes[..size]);
        match header.key {
            Some(key) => _ = ws_unmask_core::unmask_into_uninit(rest, payload, key, 0),
            None => _ = rest.write_copy_of_slice(payload),
        }
    });
    Ok(string.as_value())
}

/// A new String of `bytes`, which are in Rust's memory, in ASCII-8BIT.
///
/// Raises NoMemoryError if there is not enough memory.
pub fn bytes_string(bytes: &[u8]) -> Result<RString, Error> {
    let raw = protect(|| new_string(bytes.len()))?;
    let (string, ()) = filled(raw, bytes.len(), |dst| _ = dst.write_copy_of_slice(bytes));
    Ok(string)
}

/// A new String of these bytes, in ASCII-8BIT. Called within [`catching_jumps`]; it allocates.
#[inline(always)]
pub fn new_bytes(bytes: &[u8]) -> Value {
    let (string, ()) =
        filled(new_string(bytes.len()), bytes.len(), |dst| _ = dst.write_copy_of_slice(bytes));
    string.as_value()
}

/// A new object of `class` with instance variables; its `initialize` is not called. Called within
/// [`catching_jumps`]; it allocates.
#[inline(always)]
pub fn new_object<const N: usize>(class: RClass, variables: [(Id, Value); N]) -> Value {
    // SAFETY: `class` is a class, and allocates what the caller has checked to be a plain object. A
    // new object is not frozen, so its variables can be set; it and the values are on the stack.
    let object = unsafe { rb_sys::rb_obj_alloc(class.as_raw()) };
    for (name, value) in variables {
        unsafe { rb_sys::rb_ivar_set(object, name.as_raw(), value.as_raw()) };
    }
    gc_guard(variables);
    unsafe { Value::from_raw(object) }
}

/// Removes the first `len` bytes of `string`, without copying those behind. Called within
/// [`catching_jumps`].
///
/// Raises FrozenError for a frozen String and RuntimeError for one that is locked by an IO; it is
/// unchanged then.
#[inline]
pub fn drop_bytes(string: RString, len: usize) {
    // SAFETY: `string` is a String. It checks that this may be changed, and `len`.
    unsafe { rb_sys::rb_str_drop_bytes(string.as_raw(), len as _) };
}

/// Appends the frame of [`framed_bytes`] to `output`, whose memory grows by doubling and is kept.
/// Called within [`catching_jumps`]; `payload` must not be in `output`, which may move.
///
/// Raises FrozenError for a frozen String, RuntimeError for one that is locked by an IO, and
/// NoMemoryError. `output` may then have a part of the frame.
#[inline]
pub fn append_frame(output: RString, header: Header, payload: &[u8]) {
    // A multiple of four, so that each piece begins at the key's first byte.
    const PIECE: usize = 4 << 10;
    let (bytes, size) = header.encode();
    append(output, &bytes[..size]);
    let Some(key) = header.key else { return append(output, payload) };
    for plain in payload.chunks(PIECE) {
        let mut masked = [MaybeUninit::uninit(); PIECE];
        let masked = masked[..plain.len()].write_copy_of_slice(plain);
        ws_unmask_core::unmask(masked, key, 0);
        append(output, masked);
    }
}

/// Called within [`catching_jumps`].
#[inline]
fn append(output: RString, bytes: &[u8]) {
    // SAFETY: rb_str_cat copies `bytes`, which are not in `output`, and raises before it has changed
    // anything. It allocates; Ruby code runs only if it raises, and then nobody reads `bytes` again.
    unsafe { rb_sys::rb_str_cat(output.as_raw(), bytes.as_ptr().cast(), bytes.len() as _) };
}

/// Removes what [`append_frame`] appended after the first `len` bytes before it raised.
#[cold]
pub fn take_back(output: RString, len: usize) -> Result<(), Error> {
    if output.len() <= len {
        return Ok(());
    }
    // SAFETY: something was appended, so `output` is a String with memory of its own, of more than
    // `len` bytes.
    catching_jumps(|| unsafe { rb_sys::rb_str_set_len(output.as_raw(), len as _) })
}

/// The type of the objects that wrap a `T`. magnus checks it within a `protect` at each call, which
/// costs as much as decoding a short frame. Here that is done once, and the result is compared.
pub struct KnownType<T>(AtomicPtr<rb_sys::rb_data_type_t>, PhantomData<fn() -> T>);

impl<T: TypedData> KnownType<T> {
    pub const fn new() -> Self {
        Self(AtomicPtr::new(core::ptr::null_mut()), PhantomData)
    }

    /// The `T` that `object` wraps.
    #[inline(always)]
    pub fn get<'a>(&self, object: &'a Value) -> Result<&'a T, Error> {
        let (raw, known) = (object.as_raw(), self.0.load(Ordering::Relaxed).cast_const());
        // SAFETY: RTYPEDDATA_TYPE reads the type of an object that RTYPEDDATA_P has found to be
        // typed, which only an object is that RB_TYPE_P calls data. `known` is the type of an object
        // that magnus has found to wrap a T, and there is one type for each T; so this one does,
        // too. The T lives as long as the object, which the caller has on its stack.
        unsafe {
            if rb_sys::RB_TYPE_P(raw, rb_sys::ruby_value_type::RUBY_T_DATA)
                && rb_sys::RTYPEDDATA_P(raw)
                && rb_sys::RTYPEDDATA_TYPE(raw) == known
            {
                return Ok(&*rb_sys::RTYPEDDATA_GET_DATA(raw).cast::<T>());
            }
        }
        self.learn(object)
    }

    #[cold]
    fn learn<'a>(&self, object: &'a Value) -> Result<&'a T, Error> {
        let unwrapped = <&T>::try_convert(*object)?;
        // SAFETY: it wraps a T, so it is typed.
        let learned = unsafe { rb_sys::RTYPEDDATA_TYPE(object.as_raw()) };
        self.0.store(learned.cast_mut(), Ordering::Relaxed);
        Ok(unwrapped)
    }
}

/// Passes the bytes of `string` to `read`, which may allocate Strings and Arrays in Ruby, but call
/// nothing else.
///
/// That exception to the rule above is sound: allocating runs no Ruby code and no other thread, and
/// the garbage collector neither frees nor moves what it finds on the stack.
#[inline]
pub fn with_bytes<T>(string: RString, read: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: as said above; `string` is on the stack until `read` has returned.
    let result = read(unsafe { string.as_slice() });
    gc_guard(string);
    result
}

/// The RB_GC_GUARD of C: keeps `value` on the stack until this call, so that the garbage collector
/// finds it there even if only its memory or a copy on the heap is in use.
#[inline]
pub fn gc_guard<T>(value: T) {
    core::hint::black_box(value);
}

/// Returns what `body` returns, or what Ruby raised in it.
///
/// It is one `protect` around many calls into Ruby; one for each call would cost 8 ns each. When
/// `body` calls into Ruby unprotected, no stack frame inside it may have a value to drop. A panic
/// passes through.
#[inline]
pub fn catching_jumps<T>(body: impl FnOnce() -> T) -> Result<T, Error> {
    let mut result = None;
    protect(|| {
        result = Some(catch_unwind(AssertUnwindSafe(body)));
        rb_sys::Qnil as rb_sys::VALUE
    })?;
    match result {
        Some(Ok(result)) => Ok(result),
        Some(Err(panic)) => resume_unwind(panic),
        None => unreachable!("protect returns an error if `body` did not end"),
    }
}

/// Yields to the block of the method that Ruby has called. Called within [`catching_jumps`]: a block
/// may raise, `break` or `throw`.
#[inline]
pub fn yield_values(values: &[Value]) {
    // SAFETY: a Value is what the C API calls VALUE, and `values` has as many as it says. They are
    // on the stack until the block has returned.
    unsafe { rb_sys::rb_yield_values2(values.len() as _, values.as_ptr().cast()) };
    gc_guard(values);
}

/// Whether the method that Ruby has called was given keywords, which are then its last argument.
#[inline]
pub fn has_keywords() -> bool {
    // SAFETY: reads a flag of the current call.
    unsafe { rb_sys::rb_keyword_given_p() != 0 }
}

/// The memory of an object on Rust's heap that Ruby's garbage collector was told of. It runs when
/// enough memory was allocated, and by itself it counts only Ruby's own.
#[derive(Default)]
pub struct HeldMemory {
    told: Cell<usize>,
}

impl HeldMemory {
    /// Smaller changes, in bytes, are not reported one by one.
    const UNTOLD: usize = 16 << 10;

    /// Whether about this much was reported.
    #[inline(always)]
    pub fn is_about(&self, held: usize) -> bool {
        held.abs_diff(self.told.get()) < Self::UNTOLD
    }

    /// Reports that it is this much now. Called within [`catching_jumps`].
    #[inline(always)]
    pub fn is(&self, held: usize) {
        if !self.is_about(held) {
            let told = self.told.replace(held);
            tell_collector(held as isize - told as isize);
        }
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        tell_collector(-(self.told.get() as isize));
    }
}

/// Reports memory that was allocated, or freed (negative). It does not raise if it is negative.
fn tell_collector(bytes: isize) {
    if bytes == 0 {
        return;
    }
    // SAFETY: it counts, and raises nothing; it may be called while an object is freed, too.
    unsafe { rb_sys::rb_gc_adjust_memory_usage(bytes as _) };
    if bytes > 0 {
        // Ruby decides whether to collect garbage only when it allocates.
        // SAFETY: what is allocated is freed, once. It may collect garbage, and raise.
        unsafe { rb_sys::ruby_xfree(rb_sys::ruby_xmalloc(1)) };
    }
}

/// Frames for the integrations, in one flat Array: the first byte, the payload and the end of each.
/// Used within [`catching_jumps`].
pub struct FrameList {
    array: Option<rb_sys::VALUE>,
    len: usize,
}

impl FrameList {
    /// The maximum number of frames: if a handler raises at every frame, each call decodes at most
    /// this many again.
    const MOST: usize = 256;

    pub fn new() -> Self {
        Self { array: None, len: 0 }
    }

    pub fn is_full(&self) -> bool {
        self.len == Self::MOST
    }

    #[inline]
    pub fn push(&mut self, first_byte: u8, payload: RubyString, end: usize) {
        let fixnum = |number: usize| ((number << 1) | 1) as rb_sys::VALUE;
        let frame = [fixnum(first_byte.into()), payload.0.as_raw(), fixnum(end)];
        self.len += 1;
        match self.array {
            // SAFETY: `array` was made below and is on the stack, `frame` has three Values. A Fixnum
            // is the number shifted, with the lowest bit set; the end of a String is far below the
            // largest one.
            Some(array) => unsafe { _ = rb_sys::rb_ary_cat(array, frame.as_ptr(), 3) },
            None => self.array = Some(unsafe { rb_sys::rb_ary_new_from_values(3, frame.as_ptr()) }),
        }
    }

    /// The Array, or nil if there is no frame.
    pub fn into_value(self) -> Value {
        // SAFETY: it is an Array of Ruby's, or nil.
        unsafe { Value::from_raw(self.array.unwrap_or(rb_sys::Qnil as rb_sys::VALUE)) }
    }
}

/// A payload in a Ruby String: bytes in ASCII-8BIT, text in UTF-8 with what is known about its bytes,
/// which Ruby does not need to scan again.
pub struct RubyString(pub RString);

/// There is not enough memory for a payload.
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

    /// Used within [`catching_jumps`]: no stack frame between there and here has a value to drop.
    #[inline]
    fn unmask(masked: MaskedPayload<'_>) -> Result<Self, DecodeError<NoMemory>> {
        let raw = new_string(masked.len());
        let (string, content) = filled(raw, masked.len(), |plain| {
            // Nobody gets a refused payload, but ObjectSpace would show its unwritten memory.
            masked.unmask_into(plain).inspect_err(|_| plain.fill(MaybeUninit::new(0)))
        });
        Ok(Self(labeled(string, content?)))
    }

    fn assembled(plain: Vec<u8>, content: Content) -> Result<Self, NoMemory> {
        let string = bytes_string(&plain).map_err(NoMemory::InRuby)?;
        Ok(Self(labeled(string, content)))
    }
}

/// A new String of `len` unwritten bytes, in ASCII-8BIT. It raises if there is not enough memory.
#[inline(always)]
fn new_string(len: usize) -> rb_sys::VALUE {
    // SAFETY: a null pointer asks for `len` unwritten bytes. `len` is that of a slice or a String, so
    // it is no larger than Ruby allows.
    unsafe { rb_sys::rb_str_new(core::ptr::null(), len as _) }
}

/// Lets `fill` write the `len` bytes of a new String: all of them, if the String is to be used. `fill`
/// must not call Ruby.
#[inline(always)]
fn filled<T>(
    raw: rb_sys::VALUE,
    len: usize,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> T,
) -> (RString, T) {
    // SAFETY: the String is new, so its `len` bytes are its own and nobody else reads or writes
    // them; MaybeUninit<u8> says that they are unwritten.
    let result = fill(unsafe {
        let pointer = rb_sys::RSTRING_PTR(raw).cast::<MaybeUninit<u8>>().cast_mut();
        core::slice::from_raw_parts_mut(pointer, len)
    });
    // SAFETY: `raw` is a String.
    let string = RString::from_value(unsafe { Value::from_raw(raw) });
    (string.expect("it is a String"), result)
}

/// Makes text of a new String in ASCII-8BIT, with what is known about its bytes.
#[inline(always)]
fn labeled(string: RString, content: Content) -> RString {
    let coderange = match content {
        Content::Bytes => return string,
        Content::Ascii => Coderange::SevenBit,
        Content::Utf8 => Coderange::Valid,
        Content::UncheckedText => Coderange::Unknown,
    };
    // SAFETY: the String is new and nobody else has it. This is RB_ENCODING_SET_INLINED of Ruby's
    // headers, for a String whose encoding has the index 0 (ASCII-8BIT in every Ruby, and a new
    // String of bytes is in it), so no bit has to be cleared. UTF-8's index fits, as every built-in
    // encoding's does. The code range is what the core has proved of these bytes in UTF-8.
    unsafe {
        let utf8 = rb_sys::rb_utf8_encindex() as rb_sys::VALUE;
        let basic = string.as_raw() as *mut rb_sys::RBasic;
        (*basic).flags |= utf8 << rb_sys::ruby_encoding_consts::RUBY_ENCODING_SHIFT as u32;
        string.enc_coderange_set(coderange);
    }
    string
}
