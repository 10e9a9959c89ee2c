//! Unmasking, with a path for each range of lengths.
//!
//! | bytes | path |
//! | --- | --- |
//! | 0–15 | [`word`]: two overlapping words, the second one ending where the payload ends |
//! | 16–128 | [`simd`]: two, four or eight overlapping 16-byte blocks, without detecting the CPU's level |
//! | 129– | [`simd`]: head, aligned middle and tail in the widest vectors of this CPU |
//!
//! Text that is not ASCII is validated in the same pass, while its vectors are in registers:
//!
//! | bytes | path |
//! | --- | --- |
//! | 0–15 | [`word`], and then byte by byte from the two words |
//! | 16–128 | [`simd`]: two overlapping vectors of the best level |
//! | 129– | [`simd`]: up to eight overlapping vectors; longer text in steps of four |
//!
//! On CPUs without vectors, or without byte lookups in vectors (SSE2), the standard library validates
//! the text in a second pass.
//!
//! No path has a byte loop: a remainder is covered by a vector that overlaps its neighbor. All of a
//! short payload, and the head and tail of a long one, are read before anything is written, so the
//! overlap is written twice with the same bytes.

mod answer;
mod in_out;
pub mod scalar;
pub mod simd;
pub mod word;

use crate::SimdLevel;
use crate::key::Key;
use crate::simd_level::WIDEST_UP_TO;
use crate::utf8::Cut;
use crate::utf8::Invalid;
use answer::Answer;
use core::mem::MaybeUninit;
use in_out::{Copied, InOut, InPlace};
use simd::TextByte;

pub(crate) use answer::Piece;

/// Up to this length, the baseline vectors are faster, or slower by less than it costs to choose a
/// level: from 65 bytes on, they and the widest ones take about the same time (`cargo bench --bench unmask`,
/// group `short`).
const BASELINE_VECTORS_UP_TO: usize = 128;

/// Unmasks `payload` in place with `key`, by the fastest path for its length.
///
/// `offset` is where in the frame's payload this piece begins, in bytes: 0 for a whole payload, or
/// anything for a payload that arrives in pieces. Masking is the same operation (RFC 6455, section
/// 5.3). Never panics.
///
/// ```
/// let mut piece = *b"\x4d\x51\x58"; // the last three bytes of the masked "Hello"
/// ws_unmask_core::unmask(&mut piece, [0x37, 0xfa, 0x21, 0x3d], 2);
/// assert_eq!(&piece, b"llo");
/// ```
#[inline(always)]
pub fn unmask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    let key = Key::new(key).at(offset);
    if payload.len() <= BASELINE_VECTORS_UP_TO {
        short(InPlace(payload), key)
    } else {
        simd::in_place(payload, key)
    }
}

/// [`unmask()`], which also returns whether the plain bytes are all ASCII.
#[inline]
pub(crate) fn unmask_ascii(payload: &mut [u8], key: [u8; 4], offset: usize) -> bool {
    let key = Key::new(key).at(offset);
    if payload.len() <= BASELINE_VECTORS_UP_TO {
        short(InPlace(payload), key)
    } else {
        simd::in_place_ascii(payload, key)
    }
}

/// Unmasks `src` into `dst` in one pass, without changing `src`. See [`unmask()`] for `key` and
/// `offset`.
///
/// # Panics
///
/// If `dst` and `src` are not of the same length.
///
/// ```
/// let mut plain = [0; 5];
/// let masked = b"\x7f\x9f\x4d\x51\x58";
/// ws_unmask_core::unmask_into(&mut plain, masked, [0x37, 0xfa, 0x21, 0x3d], 0);
/// assert_eq!(&plain, b"Hello");
/// ```
#[inline]
pub fn unmask_into(dst: &mut [u8], src: &[u8], key: [u8; 4], offset: usize) {
    same_length(dst.len(), src.len());
    let key = Key::new(key).at(offset);
    if src.len() <= BASELINE_VECTORS_UP_TO {
        short(Copied { dst, src }, key)
    } else {
        simd::into(dst, src, key)
    }
}

/// Unmasks `src` into unwritten memory, and returns whether the plain bytes are all ASCII (no top bit
/// set), which it detects in the same pass.
///
/// Afterwards every byte of `dst` is initialized. See [`unmask()`] for `key` and `offset`.
///
/// # Panics
///
/// If `dst` and `src` are not of the same length.
///
/// ```
/// use core::mem::MaybeUninit;
///
/// let mut plain = [MaybeUninit::uninit(); 5];
/// let masked = b"\x7f\x9f\x4d\x51\x58"; // "Hello"
/// assert!(ws_unmask_core::unmask_into_uninit(&mut plain, masked, [0x37, 0xfa, 0x21, 0x3d], 0));
/// ```
#[inline(always)]
#[must_use = "without the answer, `unmask_into` says more plainly what is meant"]
pub fn unmask_into_uninit(
    dst: &mut [MaybeUninit<u8>],
    src: &[u8],
    key: [u8; 4],
    offset: usize,
) -> bool {
    same_length(dst.len(), src.len());
    let key = Key::new(key).at(offset);
    if src.len() <= BASELINE_VECTORS_UP_TO {
        short(Copied { dst, src }, key)
    } else {
        simd::into_ascii(dst, src, key)
    }
}

/// [`unmask()`] for text that continues text with the state `before`; returns its state. All of
/// `payload` is unmasked, unless it is over 32 KiB and invalid.
#[inline]
pub(crate) fn unmask_text(
    payload: &mut [u8],
    key: [u8; 4],
    offset: usize,
    before: Cut,
) -> Result<Piece, Invalid> {
    let key = Key::new(key).at(offset);
    if payload.len() <= WIDEST_UP_TO {
        simd::text_in_place(SimdLevel::best(), payload, key, before)
    } else {
        long_text_in_place(payload, key, before)
    }
}

/// [`unmask_text`] into memory that may be unwritten; if the text is invalid, a part of it may still
/// be.
#[inline]
pub(crate) fn unmask_text_into<B: TextByte>(
    dst: &mut [B],
    src: &[u8],
    key: [u8; 4],
    before: Cut,
) -> Result<Piece, Invalid> {
    same_length(dst.len(), src.len());
    let key = Key::new(key);
    if src.len() <= WIDEST_UP_TO {
        B::text_into(SimdLevel::best(), dst, src, key, before)
    } else {
        long_text_into(dst, src, key, before)
    }
}

#[inline(always)]
#[track_caller]
pub(crate) fn same_length(dst: usize, src: usize) {
    assert!(dst == src, "dst has {dst} bytes and src {src}: they must have the same length");
}

#[inline(always)]
fn short<T: InOut, A: Answer>(in_out: T, key: Key) -> A {
    if in_out.len() < 16 {
        simd::few(in_out, key, Cut::default())
    } else {
        simd::short(in_out, key)
    }
}

fn long_text_in_place(payload: &mut [u8], key: Key, before: Cut) -> Result<Piece, Invalid> {
    in_pieces(payload.chunks_mut(WIDEST_UP_TO), before, |level, piece, before| {
        simd::text_in_place(level, piece, key, before)
    })
}

fn long_text_into<B: TextByte>(
    dst: &mut [B],
    src: &[u8],
    key: Key,
    before: Cut,
) -> Result<Piece, Invalid> {
    let pieces = dst.chunks_mut(WIDEST_UP_TO).zip(src.chunks(WIDEST_UP_TO));
    in_pieces(pieces, before, |level, (dst, src), before| {
        B::text_into(level, dst, src, key, before)
    })
}

/// Long text: the widest vectors are the fastest for validating, but not for copying ASCII, and text
/// that was ASCII so far probably stays ASCII.
fn in_pieces<T>(
    pieces: impl Iterator<Item = T>,
    mut before: Cut,
    unmask: impl Fn(SimdLevel, T, Cut) -> Result<Piece, Invalid>,
) -> Result<Piece, Invalid> {
    let mut level = SimdLevel::best();
    let mut whole = Piece::Ascii;
    for piece in pieces {
        match unmask(level, piece, before)? {
            Piece::Ascii => level = SimdLevel::best().at_most_32_bytes(),
            utf8 @ Piece::Utf8 { end } => {
                (level, whole, before) = (SimdLevel::best(), utf8, end);
            }
        }
    }
    Ok(whole)
}
