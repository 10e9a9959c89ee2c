//! A vector at a time: every level by one generic function.

use super::in_out::{Copied, InOut, InPlace};
use super::word;
use crate::SimdLevel;
use crate::key::Key;
use fearless_simd::{Level as Vectors, dispatch, i8x16, prelude::*, u8x16, u32x4};

/// Vectors in a step of the main loop. With eight of them 1,280 bytes take longer, and 16 KiB take
/// no less.
const STEP: usize = 4;

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
    at_level(level, InPlace(payload), Key::new(key).at(offset))
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
    at_level(level, Copied { dst, src }, Key::new(key).at(offset))
}

/// What the caller wants to know: nothing, or whether all plain bytes are ASCII. It has to be said
/// inside of the vectorized code, for the compiler drops unused work only there.
pub(crate) trait Answer {
    fn is_ascii(yes: bool) -> Self;
}

impl Answer for () {
    #[inline(always)]
    fn is_ascii(_: bool) -> Self {}
}

impl Answer for bool {
    #[inline(always)]
    fn is_ascii(yes: bool) -> Self {
        yes
    }
}

/// Payloads over 32 KiB are worked on in L2 or beyond, where AVX-512's 64-byte vectors are slower
/// than 32-byte ones: 57 against 66 GB/s at 64 KiB to 1 MiB (`cargo bench`, group `levels at 6`).
const WIDEST_UP_TO: usize = 32 << 10;

/// Unmasks by the level that is best for the length.
#[inline(always)]
pub(crate) fn best<T: InOut, A: Answer>(in_out: T, key: Key) -> A {
    let level = SimdLevel::best();
    let level = if in_out.len() > WIDEST_UP_TO { level.at_most_32_bytes() } else { level };
    at_level(level, in_out, key)
}

#[inline(always)]
pub(crate) fn at_level<T: InOut, A: Answer>(level: SimdLevel, in_out: T, key: Key) -> A {
    match level.vectors() {
        Some(level) => {
            // As one value that the vectorized code takes over: by itself, the key would be passed
            // as a reference to memory.
            let work = (in_out, key);
            dispatch!(level, simd => A::is_ascii(any_length(simd, work)))
        }
        None => A::is_ascii(word::any_length(in_out, key)),
    }
}

/// 16 to 128 bytes, with the vectors that the compilation target guarantees: which those are is
/// known at compile time, so this is inlined into the caller.
#[inline(always)]
pub(crate) fn short<T: InOut>(in_out: T, key: Key) -> bool {
    let level = Vectors::baseline();
    if level.is_fallback() {
        word::any_length(in_out, key)
    } else {
        dispatch!(level, simd => blocks(simd, in_out, key))
    }
}

#[inline(always)]
fn any_length<S: Simd, T: InOut>(simd: S, (in_out, key): (T, Key)) -> bool {
    match in_out.len() {
        0..16 => word::below_16(in_out, key),
        16..=128 => blocks(simd, in_out, key),
        len if len <= 4 * S::u8s::LEN => two_and_two(simd, in_out, key),
        _ => head_middle_tail(simd, in_out, key),
    }
}

#[inline(always)]
fn blocks<S: Simd, T: InOut>(simd: S, in_out: T, key: Key) -> bool {
    match in_out.len() {
        0..=32 => overlapping_blocks::<1, S, T>(simd, in_out, key),
        33..=64 => overlapping_blocks::<2, S, T>(simd, in_out, key),
        _ => overlapping_blocks::<4, S, T>(simd, in_out, key),
    }
}

/// `N` 16-byte blocks from the start and `N` up to the end.
#[inline(always)]
fn overlapping_blocks<const N: usize, S: Simd, T: InOut>(simd: S, mut in_out: T, key: Key) -> bool {
    let last = in_out.len() - 16 * N;
    let wide = |key: Key| -> u8x16<S> { u32x4::splat(simd, key.as_u32()).bitcast() };
    let mut head = [wide(key); N];
    let mut tail = [wide(key.at(last)); N];
    let mut seen = u8x16::splat(simd, 0);
    for block in 0..N {
        head[block] ^= u8x16::from_slice(simd, in_out.masked(16 * block, 16));
        tail[block] ^= u8x16::from_slice(simd, in_out.masked(last + 16 * block, 16));
        seen |= head[block] | tail[block];
    }
    for block in 0..N {
        in_out.write(16 * block, head[block].as_slice());
        in_out.write(last + 16 * block, tail[block].as_slice());
    }
    let signs: i8x16<S> = seen.bitcast();
    !signs.simd_lt(0).any_true()
}

/// Two vectors from the start and two up to the end.
#[inline(always)]
fn two_and_two<S: Simd, T: InOut>(simd: S, mut in_out: T, key: Key) -> bool {
    let last = in_out.len() - 2 * S::u8s::LEN;
    let head = plain::<2, S, T>(simd, &in_out, 0, key);
    let tail = plain::<2, S, T>(simd, &in_out, last, key.at(last));
    write(&mut in_out, 0, head);
    write(&mut in_out, last, tail);
    is_ascii::<S>(union(head) | union(tail))
}

/// One vector from the start, the aligned middle in steps, and a step up to the end. Head and tail
/// are read first and written last.
#[inline(always)]
fn head_middle_tail<S: Simd, T: InOut>(simd: S, mut in_out: T, key: Key) -> bool {
    let (vector, step) = (S::u8s::LEN, STEP * S::u8s::LEN);
    let last = in_out.len() - step;
    let head = plain::<1, S, T>(simd, &in_out, 0, key);
    let tail = plain::<STEP, S, T>(simd, &in_out, last, key.at(last));
    let mut seen = union(head) | union(tail);

    let start = in_out.next_aligned(vector);
    let end = start + last.saturating_sub(start).next_multiple_of(step);
    let key = key.at(start);
    for mut piece in in_out.pieces(start, end, step) {
        let middle = plain::<STEP, S, _>(simd, &piece, 0, key);
        write(&mut piece, 0, middle);
        seen |= union(middle);
    }

    write(&mut in_out, 0, head);
    write(&mut in_out, last, tail);
    is_ascii::<S>(seen)
}

/// `N` unmasked vectors from `at` on.
#[inline(always)]
fn plain<const N: usize, S: Simd, T: InOut>(
    simd: S,
    in_out: &T,
    at: usize,
    key: Key,
) -> [S::u8s; N] {
    let mut plain = [S::u32s::splat(simd, key.as_u32()).bitcast::<S::u8s>(); N];
    for (i, vector) in plain.iter_mut().enumerate() {
        let size = S::u8s::LEN;
        *vector ^= S::u8s::from_slice(simd, in_out.masked(at + i * size, size));
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

/// The bits that are set in any of the vectors.
#[inline(always)]
fn union<const N: usize, V: Copy + core::ops::BitOr<Output = V>>(vectors: [V; N]) -> V {
    let mut all = vectors[0];
    for &vector in &vectors[1..] {
        all = all | vector;
    }
    all
}

#[inline(always)]
fn is_ascii<S: Simd>(seen: S::u8s) -> bool {
    !seen.bitcast::<S::i8s>().simd_lt(0).any_true()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{SimdLevel, at_level};
    use crate::key::Key;
    use crate::unmask::in_out::InPlace;
    use std::vec;

    /// One byte outside of ASCII is seen wherever it is, by every path of every level.
    #[test]
    fn every_level_knows_ascii() {
        let is_ascii =
            |level, plain: &mut [u8]| -> bool { at_level(level, InPlace(plain), Key::new([0; 4])) };
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
