//! A vector at a time: every level by one generic function.

mod seen;

use super::answer::{Answer, Piece};
use super::in_out::{Copied, InOut, InPlace};
use super::word;
use crate::key::Key;
use crate::utf8::Invalid;
use crate::utf8::{Cut, vectors::ByteVector};
use crate::{Content, SimdLevel};
use core::mem::MaybeUninit;
use fearless_simd::{Level as Vectors, dispatch, prelude::*, u8x16, u8x32, u8x64};
use seen::{Seen, splat};

/// Vectors in a step of the main loop. With eight of them 1,280 bytes take longer, and 16 KiB take
/// no less.
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
    best(InPlace(payload), Key::new(key).at(offset))
}

/// [`unmask()`] at a level of one's choice, to test or to measure it.
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
    at_level(level, InPlace(payload), Key::new(key).at(offset), Cut::default())
}

/// [`unmask_into`](crate::unmask_into) at a level of one's choice, to test or to measure it.
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
    at_level(level, Copied { dst, src }, Key::new(key).at(offset), Cut::default())
}

/// Unmasks a whole text in place at a level of one's choice, to test or to measure it: what is known
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
    Piece::content(at_level(level, InPlace(payload), key, Cut::default()))
}

/// [`unmask_text_at`] on the way from `src` into memory that nothing has been written to yet.
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
    Piece::content(at_level(level, Copied { dst, src }, key, Cut::default()))
}

/// Payloads over 32 KiB are worked on in L2 or beyond, where AVX-512's 64-byte vectors are slower
/// than 32-byte ones: 57 against 66 GB/s at 64 KiB to 1 MiB (`cargo bench`, group `levels at 6`).
pub(crate) const WIDEST_UP_TO: usize = 32 << 10;

/// Unmasks by the level that is best for the length.
#[inline(always)]
pub(crate) fn best<T: InOut, A: Answer>(in_out: T, key: Key) -> A {
    let level = SimdLevel::best();
    let level = if in_out.len() > WIDEST_UP_TO { level.at_most_32_bytes() } else { level };
    at_level(level, in_out, key, Cut::default())
}

/// If it is text, it continues what ended in `before`.
#[inline(always)]
pub(crate) fn at_level<T: InOut, A: Answer>(
    level: SimdLevel,
    in_out: T,
    key: Key,
    before: Cut,
) -> A {
    let len = in_out.len();
    if len < 16 {
        return A::of_few(word::below_16(in_out, key), len, before);
    }
    match level.vectors() {
        // The arguments as one value that the vectorized code takes over: by itself, the key would
        // be passed as a reference to memory.
        Some(vectors) if !A::IS_TEXT || level.can_shuffle_bytes() => {
            let work = (in_out, key, before);
            dispatch!(vectors, simd => any_length(simd, work))
        }
        _ => A::without_vectors(in_out, key, before),
    }
}

/// Text of 16 to 128 bytes: code of its own, which is short enough to be quick to call.
#[inline(always)]
pub(crate) fn short_text<T: InOut>(in_out: T, key: Key, before: Cut) -> Result<Piece, Invalid> {
    let level = SimdLevel::best();
    match level.vectors() {
        Some(vectors) if level.can_shuffle_bytes() => {
            let work = (in_out, key, before);
            dispatch!(vectors, simd => up_to_128(simd, work))
        }
        _ => Answer::without_vectors(in_out, key, before),
    }
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
        len if len <= 4 * S::u8s::LEN => overlapping::<2, S, S::u8s, T, A>(simd, work),
        _ => head_middle_tail(simd, work),
    }
}

#[inline(always)]
fn up_to_128<S: Simd, T: InOut, A: Answer>(simd: S, work: Work<T>) -> A {
    match work.0.len() {
        0..=32 => overlapping::<1, S, u8x16<S>, T, A>(simd, work),
        33..=64 => overlapping::<1, S, u8x32<S>, T, A>(simd, work),
        _ => overlapping::<1, S, u8x64<S>, T, A>(simd, work),
    }
}

/// `N` vectors from the start and `N` up to the end. `V` may be wider than a register.
#[inline(always)]
fn overlapping<const N: usize, S: Simd, V: ByteVector<S>, T: InOut, A: Answer>(
    simd: S,
    (mut in_out, key, before): Work<T>,
) -> A {
    let last = in_out.len() - N * V::LEN;
    let head = plain::<N, S, V, T>(simd, &in_out, 0, key);
    let tail = plain::<N, S, V, T>(simd, &in_out, last, key.at(last));
    let mut seen = Seen::<S, V, A>::new(simd, before);
    let before_tail = || before.word_before(last, |at| in_out.unmasked_word(at, key));
    seen.ends(before, head, before_tail, tail);
    if !A::ASCII_OR_NOTHING || seen.is_ascii() {
        write(&mut in_out, 0, head);
        write(&mut in_out, last, tail);
    }
    seen.answer(|| in_out.plain_word(in_out.len() - 4, key))
}

/// One vector from the start, the aligned middle in steps, and a step up to the end. Head and tail
/// are read first and written last.
#[inline(always)]
fn head_middle_tail<S: Simd, T: InOut, A: Answer>(
    simd: S,
    (mut in_out, key, before): Work<T>,
) -> A {
    let (vector, step) = (S::u8s::LEN, STEP * S::u8s::LEN);
    let last = in_out.len() - step;
    let head = plain::<1, S, S::u8s, T>(simd, &in_out, 0, key);
    let tail = plain::<STEP, S, S::u8s, T>(simd, &in_out, last, key.at(last));
    let mut seen = Seen::<S, S::u8s, A>::new(simd, before);
    let is_tail_open = seen.head(before, head, tail);

    let start = in_out.next_aligned(vector);
    let end = start + last.saturating_sub(start).next_multiple_of(step);
    seen.go_on_behind(|| before.word_before(start, |at| in_out.unmasked_word(at, key)));
    let middle_key = key.at(start);
    for mut piece in in_out.pieces(start, end, step) {
        let [first, second] =
            [0, step / 2].map(|at| plain::<HALF, S, S::u8s, _>(simd, &piece, at, middle_key));
        write(&mut piece, 0, first);
        write(&mut piece, step / 2, second);
        seen.next(first, second);
    }

    write(&mut in_out, 0, head);
    seen.tail(is_tail_open, || before.word_before(last, |at| in_out.plain_word(at, key)), tail);
    write(&mut in_out, last, tail);
    seen.answer(|| in_out.plain_word(in_out.len() - 4, key))
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

    use super::{SimdLevel, at_level};
    use crate::key::Key;
    use crate::unmask::in_out::InPlace;
    use crate::utf8::Cut;
    use std::vec;

    /// One byte outside of ASCII is seen wherever it is, by every path of every level.
    #[test]
    fn every_level_knows_ascii() {
        let is_ascii = |level, plain: &mut [u8]| -> bool {
            at_level(level, InPlace(plain), Key::new([0; 4]), Cut::default())
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
