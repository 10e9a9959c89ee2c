//! One vector at a time, with one generic function for all levels.

mod seen;

use super::answer::{Answer, Piece};
use super::in_out::{Byte, Copied, InOut, InPlace};
use super::word;
use crate::key::Key;
use crate::utf8::Invalid;
use crate::utf8::{Cut, vectors::ByteVector};
use crate::{Content, SimdLevel};
use core::mem::MaybeUninit;
use fearless_simd::{Level as Vectors, kernel, prelude::*, u8x16, u8x32, u8x64};
use seen::{Seen, splat};

/// Vectors in a step of the main loop for text.
const STEP: usize = 2 * HALF;
const HALF: usize = 2;

/// Unmasks `payload` in place with this CPU's widest vectors, and with words if it is shorter than
/// a vector. See [`unmask`](crate::unmask()) for the arguments.
///
/// ```
/// let mut payload = *b"\x7f\x9f\x4d\x51\x58";
/// ws_unmask_core::unmask::simd::unmask(&mut payload, [0x37, 0xfa, 0x21, 0x3d], 0);
/// assert_eq!(&payload, b"Hello");
/// ```
pub fn unmask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    unmask_at(SimdLevel::best_for(payload.len()), payload, key, offset);
}

/// [`unmask()`] at a given level, for tests and benchmarks.
///
/// ```
/// use ws_unmask_core::{SimdLevel, unmask::simd};
///
/// for level in SimdLevel::available() {
///     let mut payload = *b"\x7f\x9f\x4d\x51\x58";
///     simd::unmask_at(level, &mut payload, [0x37, 0xfa, 0x21, 0x3d], 0);
///     assert_eq!(&payload, b"Hello", "at {level}");
/// }
/// ```
pub fn unmask_at(level: SimdLevel, payload: &mut [u8], key: [u8; 4], offset: usize) {
    let key = Key::new(key).at(offset);
    match payload.len() {
        0..16 => few(InPlace(payload), key, Cut::default()),
        _ => bytes_in_place(level, payload, key),
    }
}

/// [`unmask_into`](crate::unmask_into) at a given level, for tests and benchmarks.
///
/// # Panics
///
/// If `dst` and `src` are not of the same length.
///
/// ```
/// use ws_unmask_core::{SimdLevel, unmask::simd};
///
/// let mut plain = [0; 2];
/// simd::unmask_into_at(SimdLevel::best(), &mut plain, b"\x7f\x9f", [0x37, 0xfa, 0x21, 0x3d], 0);
/// assert_eq!(&plain, b"He");
/// ```
pub fn unmask_into_at(level: SimdLevel, dst: &mut [u8], src: &[u8], key: [u8; 4], offset: usize) {
    super::same_length(dst.len(), src.len());
    let key = Key::new(key).at(offset);
    match src.len() {
        0..16 => few(Copied { dst, src }, key, Cut::default()),
        _ => bytes_into(level, dst, src, key),
    }
}

/// Unmasks a whole text in place at a given level, for tests and benchmarks: what is known
/// of it then, or `None` if it is not valid UTF-8. See [`unmask`](crate::unmask()) for the arguments.
///
/// ```
/// use ws_unmask_core::{Content, SimdLevel, unmask::simd};
///
/// let mut payload = *b"\x7f\x9f\x4d\x51\x58";
/// let content = simd::unmask_text_at(SimdLevel::best(), &mut payload, [0x37, 0xfa, 0x21, 0x3d], 0);
/// assert_eq!((&payload, content), (b"Hello", Some(Content::Ascii)));
/// ```
pub fn unmask_text_at(
    level: SimdLevel,
    payload: &mut [u8],
    key: [u8; 4],
    offset: usize,
) -> Option<Content> {
    let key = Key::new(key).at(offset);
    Piece::content(text_in_place(level, payload, key, Cut::default()))
}

/// [`unmask_text_at`] on the way from `src` into unwritten memory.
///
/// # Panics
///
/// If `dst` and `src` are not of the same length.
pub fn unmask_text_into_at(
    level: SimdLevel,
    dst: &mut [MaybeUninit<u8>],
    src: &[u8],
    key: [u8; 4],
    offset: usize,
) -> Option<Content> {
    super::same_length(dst.len(), src.len());
    let key = Key::new(key).at(offset);
    Piece::content(TextByte::text_into(level, dst, src, key, Cut::default()))
}

/// A function that does `$work` at a level. It is compiled once for each level, and takes its arguments
/// in registers: those of a closure would go through memory, which costs 2 ns a call.
macro_rules! at_every_level {
    ($name:ident($($argument:ident: $type:ty),+) -> $answer:ty = $function:ident($work:expr)) => {
        #[inline(always)]
        fn $name(level: SimdLevel, $($argument: $type),+) -> $answer {
            at_every_level!(@kernels avx512: Avx512, avx2: Avx2, sse4_2: Sse4_2, sse2: Sse2,
                neon: Neon, simd128: WasmSimd128;
                ($($argument: $type),+) -> $answer = $function($work));
            match vectors_for::<$answer>(level) {
                #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
                Some(Vectors::Avx512(simd)) => avx512(simd, $($argument),+),
                #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
                Some(Vectors::Avx2(simd)) => avx2(simd, $($argument),+),
                #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
                Some(Vectors::Sse4_2(simd)) => sse4_2(simd, $($argument),+),
                #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
                Some(Vectors::Sse2(simd)) => sse2(simd, $($argument),+),
                #[cfg(target_arch = "aarch64")]
                Some(Vectors::Neon(simd)) => neon(simd, $($argument),+),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Some(Vectors::WasmSimd128(simd)) => simd128(simd, $($argument),+),
                _ => without_vectors($work),
            }
        }
    };
    (@kernels $($level:ident: $Level:ident),+;
        $arguments:tt -> $answer:ty = $function:ident($work:expr)) => {
        $(at_every_level!(@kernel $level: $Level; $arguments -> $answer = $function($work));)+
    };
    (@kernel $level:ident: $Level:ident;
        ($($argument:ident: $type:ty),+) -> $answer:ty = $function:ident($work:expr)) => {
        kernel!(
            #[inline(always)]
            fn $level(simd: $Level, $($argument: $type),+) -> $answer { $function(simd, $work) }
        );
    };
}

// From 16 bytes on.
at_every_level!(bytes_in_place(payload: &mut [u8], key: Key) -> () =
    any_length((InPlace(payload), key, Cut::default())));
at_every_level!(ascii_in_place(payload: &mut [u8], key: Key) -> bool =
    any_length((InPlace(payload), key, Cut::default())));
at_every_level!(bytes_into(dst: &mut [u8], src: &[u8], key: Key) -> () =
    any_length((Copied { dst, src }, key, Cut::default())));
at_every_level!(ascii_into(dst: &mut [MaybeUninit<u8>], src: &[u8], key: Key) -> bool =
    any_length((Copied { dst, src }, key, Cut::default())));
at_every_level!(long_text_in_place(payload: &mut [u8], key: Key, before: Cut)
    -> Result<Piece, Invalid> = any_length((InPlace(payload), key, before)));

/// Unmasks in place at the best level for the length.
#[inline(always)]
pub(super) fn in_place(payload: &mut [u8], key: Key) {
    bytes_in_place(SimdLevel::best_for(payload.len()), payload, key);
}

/// [`in_place`], which also returns whether the plain bytes are all ASCII.
#[inline(always)]
pub(super) fn in_place_ascii(payload: &mut [u8], key: Key) -> bool {
    ascii_in_place(SimdLevel::best_for(payload.len()), payload, key)
}

/// [`in_place`], into other memory.
#[inline(always)]
pub(super) fn into(dst: &mut [u8], src: &[u8], key: Key) {
    bytes_into(SimdLevel::best_for(src.len()), dst, src, key);
}

/// [`in_place_ascii`], into other memory.
#[inline(always)]
pub(super) fn into_ascii(dst: &mut [MaybeUninit<u8>], src: &[u8], key: Key) -> bool {
    ascii_into(SimdLevel::best_for(src.len()), dst, src, key)
}

/// Text that continues what ended in `before`.
#[inline(always)]
pub(crate) fn text_in_place(
    level: SimdLevel,
    payload: &mut [u8],
    key: Key,
    before: Cut,
) -> Result<Piece, Invalid> {
    match payload.len() {
        0..16 => few(InPlace(payload), key, before),
        _ => long_text_in_place(level, payload, key, before),
    }
}

/// Where text can be put: what is compiled for each level cannot be generic.
pub(crate) trait TextByte: Byte {
    /// [`text_in_place`], into other memory. Short text has code of its own, which is short enough to
    /// be quick to call.
    fn text_into(
        level: SimdLevel,
        dst: &mut [Self],
        src: &[u8],
        key: Key,
        before: Cut,
    ) -> Result<Piece, Invalid>;
}

macro_rules! text_byte {
    ($byte:ty) => {
        impl TextByte for $byte {
            #[inline(always)]
            fn text_into(
                level: SimdLevel,
                dst: &mut [Self],
                src: &[u8],
                key: Key,
                before: Cut,
            ) -> Result<Piece, Invalid> {
                at_every_level!(short(dst: &mut [$byte], src: &[u8], key: Key, before: Cut)
                    -> Result<Piece, Invalid> = up_to_128((Copied { dst, src }, key, before)));
                at_every_level!(long(dst: &mut [$byte], src: &[u8], key: Key, before: Cut)
                    -> Result<Piece, Invalid> = any_length((Copied { dst, src }, key, before)));
                match src.len() {
                    0..16 => few(Copied { dst, src }, key, before),
                    16..=128 => short(level, dst, src, key, before),
                    _ => long(level, dst, src, key, before),
                }
            }
        }
    };
}

text_byte!(MaybeUninit<u8>);
// For tests, which check what was written.
text_byte!(u8);

/// Fewer bytes than a vector.
#[inline(always)]
pub(super) fn few<T: InOut, A: Answer>(in_out: T, key: Key, before: Cut) -> A {
    let len = in_out.len();
    A::of_few(word::below_16(in_out, key), len, before)
}

#[inline(always)]
fn vectors_for<A: Answer>(level: SimdLevel) -> Option<Vectors> {
    level.vectors().filter(|_| !A::IS_TEXT || level.can_shuffle_bytes())
}

#[inline(never)]
fn without_vectors<T: InOut, A: Answer>((in_out, key, before): Work<T>) -> A {
    A::without_vectors(in_out, key, before)
}

/// 16 to 128 bytes, with the vectors that the compilation target guarantees. Which those are is known
/// at compile time, so this is inlined into the caller; `dispatch!` would leave that to chance.
#[inline(always)]
pub(crate) fn short<T: InOut, A: Answer>(in_out: T, key: Key) -> A {
    let work = (in_out, key, Cut::default());
    match Vectors::baseline() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Vectors::Sse2(simd) => up_to_128(simd, work),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Vectors::Sse4_2(simd) => up_to_128(simd, work),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Vectors::Avx2(simd) => up_to_128(simd, work),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Vectors::Avx512(simd) => up_to_128(simd, work),
        #[cfg(target_arch = "aarch64")]
        Vectors::Neon(simd) => up_to_128(simd, work),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Vectors::WasmSimd128(simd) => up_to_128(simd, work),
        _ => A::without_vectors(work.0, key, Cut::default()),
    }
}

/// What is to be unmasked, the key for its start, and if it is text, what it continues.
type Work<T> = (T, Key, Cut);

#[inline(always)]
fn any_length<S: Simd, T: InOut, A: Answer>(simd: S, (in_out, key, before): Work<T>) -> A {
    let work = (in_out.measured(), key, before);
    match work.0.len() {
        0..=128 => up_to_128(simd, work),
        len if len <= 3 * S::u8s::LEN => overlapping::<2, 1, S, S::u8s, T, A>(simd, work),
        len if len <= 4 * S::u8s::LEN => overlapping::<2, 2, S, S::u8s, T, A>(simd, work),
        len if A::IS_TEXT && len <= 5 * S::u8s::LEN => {
            overlapping::<4, 1, S, S::u8s, T, A>(simd, work)
        }
        len if A::IS_TEXT && len <= 8 * S::u8s::LEN => {
            overlapping::<4, 4, S, S::u8s, T, A>(simd, work)
        }
        _ if A::IS_TEXT => head_steps_tail(simd, work),
        _ => head_middle_tail(simd, work),
    }
}

#[inline(always)]
fn up_to_128<S: Simd, T: InOut, A: Answer>(simd: S, work: Work<T>) -> A {
    match work.0.len() {
        0..=32 => overlapping::<1, 1, S, u8x16<S>, T, A>(simd, work),
        33..=64 => overlapping::<1, 1, S, u8x32<S>, T, A>(simd, work),
        _ => overlapping::<1, 1, S, u8x64<S>, T, A>(simd, work),
    }
}

/// Vectors from the start and vectors up to the end. `V` may be wider than a register.
#[inline(always)]
fn overlapping<const HEAD: usize, const TAIL: usize, S, V, T, A>(
    simd: S,
    (mut in_out, key, before): Work<T>,
) -> A
where
    S: Simd,
    V: ByteVector<S>,
    T: InOut,
    A: Answer,
{
    let last = in_out.len() - TAIL * V::LEN;
    let head = plain::<HEAD, S, V, T>(simd, &in_out, 0, key);
    let tail = plain::<TAIL, S, V, T>(simd, &in_out, last, key.at(last));
    let mut seen = Seen::<S, V, A>::new(simd, before);
    seen.ends(
        before,
        head,
        #[inline(always)]
        || {
            before.word_before(
                last,
                #[inline(always)]
                |at| in_out.unmasked_word(at, key),
            )
        },
        tail,
    );
    write(&mut in_out, 0, head);
    write(&mut in_out, last, tail);
    seen.answer(
        #[inline(always)]
        || in_out.plain_word(in_out.len() - 4, key),
    )
}

/// One vector from the start, unless that is aligned, the aligned middle, and one vector up to the end.
/// Head and tail are read first and written last.
#[inline(always)]
fn head_middle_tail<S: Simd, T: InOut, A: Answer>(
    simd: S,
    (mut in_out, key, before): Work<T>,
) -> A {
    let vector = S::u8s::LEN;
    let last = in_out.len() - vector;
    let head = plain::<1, S, S::u8s, T>(simd, &in_out, 0, key);
    let tail = plain::<1, S, S::u8s, T>(simd, &in_out, last, key.at(last));
    let mut seen = Seen::<S, S::u8s, A>::new(simd, before);
    seen.also(head);
    seen.also(tail);

    let start = in_out.next_aligned(vector);
    let end = start + last.saturating_sub(start).next_multiple_of(vector);
    let middle_key = key.at(start);
    // Nothing else, so that the compiler chooses the best number of vectors for a step.
    for mut piece in in_out.pieces(start, end, vector) {
        let middle = plain::<1, S, S::u8s, _>(simd, &piece, 0, middle_key);
        write(&mut piece, 0, middle);
        seen.also(middle);
    }

    if start > 0 {
        write(&mut in_out, 0, head);
    }
    write(&mut in_out, last, tail);
    seen.answer(
        #[inline(always)]
        || in_out.plain_word(in_out.len() - 4, key),
    )
}

/// Text: one vector from the start, unless that is aligned, the aligned middle in steps, and a step up
/// to the end. Head and tail are read first and written last.
#[inline(always)]
fn head_steps_tail<S: Simd, T: InOut, A: Answer>(simd: S, (mut in_out, key, before): Work<T>) -> A {
    let (vector, step) = (S::u8s::LEN, STEP * S::u8s::LEN);
    let last = in_out.len() - step;
    let head = plain::<1, S, S::u8s, T>(simd, &in_out, 0, key);
    let tail = plain::<STEP, S, S::u8s, T>(simd, &in_out, last, key.at(last));
    let mut seen = Seen::<S, S::u8s, A>::new(simd, before);
    let start = in_out.next_aligned(vector);
    let is_tail_open = seen.head(before, head, start > 0, tail);

    let end = start + last.saturating_sub(start).next_multiple_of(step);
    seen.go_on_behind(
        #[inline(always)]
        || {
            before.word_before(
                start,
                #[inline(always)]
                |at| in_out.unmasked_word(at, key),
            )
        },
    );
    let middle_key = key.at(start);
    for mut piece in in_out.pieces(start, end, step) {
        let [first, second] =
            [0, step / 2].map(|at| plain::<HALF, S, S::u8s, _>(simd, &piece, at, middle_key));
        write(&mut piece, 0, first);
        write(&mut piece, step / 2, second);
        seen.next(first, second);
    }

    if start > 0 {
        write(&mut in_out, 0, head);
    }
    seen.tail(
        is_tail_open,
        #[inline(always)]
        || {
            before.word_before(
                last,
                #[inline(always)]
                |at| in_out.plain_word(at, key),
            )
        },
        tail,
    );
    write(&mut in_out, last, tail);
    seen.answer(
        #[inline(always)]
        || in_out.plain_word(in_out.len() - 4, key),
    )
}

/// `N` unmasked vectors from `at` on.
#[inline(always)]
fn plain<const N: usize, S: Simd, V: ByteVector<S>, T: InOut>(
    simd: S,
    in_out: &T,
    at: usize,
    key: Key,
) -> [V; N] {
    let mut plain = [splat(simd, key.as_u32()); N];
    for (i, vector) in plain.iter_mut().enumerate() {
        *vector ^= V::from_slice(simd, in_out.masked(at + i * V::LEN, V::LEN));
    }
    plain
}

#[inline(always)]
fn write<const N: usize, V: SimdBase<S, Element = u8>, S: Simd, T: InOut>(
    in_out: &mut T,
    at: usize,
    plain: [V; N],
) {
    for (i, vector) in plain.iter().enumerate() {
        in_out.write(at + i * V::LEN, vector.as_slice());
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{SimdLevel, ascii_in_place, few};
    use crate::key::Key;
    use crate::unmask::in_out::InPlace;
    use crate::utf8::Cut;
    use std::vec;

    /// One byte outside of ASCII is seen wherever it is, by every path of every level.
    #[test]
    fn every_level_knows_ascii() {
        let key = Key::new([0; 4]);
        let is_ascii = |level, plain: &mut [u8]| match plain.len() {
            0..16 => few(InPlace(plain), key, Cut::default()),
            _ => ascii_in_place(level, plain, key),
        };
        for level in SimdLevel::available() {
            for len in [1, 3, 5, 9, 16, 31, 33, 64, 65, 100, 128, 129, 200, 256, 257, 700] {
                assert!(is_ascii(level, &mut vec![b'x'; len]), "{level}: {len}");
                for place in 0..len {
                    let mut plain = vec![b'x'; len];
                    plain[place] = 0xc3;
                    assert!(!is_ascii(level, &mut plain), "{level}: {place} of {len}");
                }
            }
        }
    }
}
