//! Unmasking: which path for which length.
//!
//! | bytes | path |
//! | --- | --- |
//! | 0–15 | [`word`]: two overlapping words, the second one ending where the payload ends |
//! | 16–128 | [`simd`]: two, four or eight overlapping 16-byte blocks, without asking the CPU |
//! | 129– | [`simd`]: head, aligned middle and tail in the widest vectors of this CPU |
//!
//! Text that is not ASCII is checked in the same pass, while its vectors are in registers:
//!
//! | bytes | path |
//! | --- | --- |
//! | 0–15 | a byte at a time, from the two words |
//! | 16–128 | ASCII as above; if it is not, in two overlapping vectors of the best level |
//! | 129– | as above, and a step is checked unless it is ASCII |
//!
//! CPUs whose vectors cannot look up bytes (SSE2), or without any, leave the check to the standard
//! library, in a second pass.
//!
//! No path unmasks in a byte loop: what an even number of vectors does not cover is covered by one that
//! overlaps its neighbour. All of a short payload, and the head and tail of a long one, are read
//! before anything is written, so the overlap is written twice with the same right bytes.

mod answer;
mod in_out;
pub mod scalar;
pub mod simd;
pub mod word;

use crate::SimdLevel;
use crate::key::Key;
use crate::utf8::Cut;
use crate::utf8::Invalid;
use answer::{Answer, IfAscii};
use core::mem::MaybeUninit;
use in_out::{Byte, Copied, InOut, InPlace};

pub(crate) use answer::Piece;

/// Up to here the CPU's baseline vectors win: asking which level it has, and the call that a
/// wider level takes, cost 2 ns; eight 16-byte blocks cost 3.8 ns at 128 bytes where the wide
/// path costs 5.2 (`cargo bench --bench unmask`, group `short`).
const BASELINE_VECTORS_UP_TO: usize = 128;

/// Unmasks `payload` in place with `key`, by the fastest path for its length.
///
/// `offset` is where in the frame's payload this piece begins (bytes; 0 for a whole payload): a
/// payload that comes in pieces is unmasked piece by piece. Any `offset` is fine. Masking is the
/// same operation (RFC 6455, section 5.3). Never panics.
///
/// ```
/// let mut piece = *b"\x4d\x51\x58"; // the last three bytes of the masked "Hello"
/// ws_unmask_core::unmask(&mut piece, [0x37, 0xfa, 0x21, 0x3d], 2);
/// assert_eq!(&piece, b"llo");
/// ```
#[inline]
pub fn unmask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    let key = Key::new(key).at(offset);
    if payload.len() <= BASELINE_VECTORS_UP_TO {
        short(InPlace(payload), key);
    } else {
        long_in_place(payload, key);
    }
}

/// [`unmask()`], and the answer whether the plain bytes are all ASCII.
#[inline]
pub(crate) fn unmask_ascii(payload: &mut [u8], key: [u8; 4], offset: usize) -> bool {
    let key = Key::new(key).at(offset);
    if payload.len() <= BASELINE_VECTORS_UP_TO {
        short(InPlace(payload), key)
    } else {
        long_in_place_ascii(payload, key)
    }
}

/// Unmasks `src` into `dst`, in one pass that leaves `src` as it is. See [`unmask()`] for `key` and
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
        short(Copied { dst, src }, key);
    } else {
        long_into(dst, src, key);
    }
}

/// Unmasks `src` into memory that nothing has been written to yet, and says whether the plain
/// bytes are all ASCII (no top bit set), which is found out in the same pass.
///
/// Afterwards every byte of `dst` is initialised. See [`unmask()`] for `key` and `offset`.
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
        long_into_uninit(dst, src, key)
    }
}

/// [`unmask()`] for text that continues what ended in `before`, and what is known of it then. All of
/// `payload` is unmasked, unless it is over 32 KiB and invalid.
#[inline]
pub(crate) fn unmask_text(
    payload: &mut [u8],
    key: [u8; 4],
    offset: usize,
    before: Cut,
) -> Result<Piece, Invalid> {
    let key = Key::new(key).at(offset);
    match payload.len() {
        0..=15 => few_text(InPlace(payload), key, before),
        16..=BASELINE_VECTORS_UP_TO => {
            if before.is_none() && simd::short::<_, IfAscii>(InPlace(payload), key).0 {
                return Ok(Piece::Ascii);
            }
            short_text_in_place(payload, key, before)
        }
        len if len <= simd::WIDEST_UP_TO => text_in_place(payload, key, before),
        _ => long_text_in_place(payload, key, before),
    }
}

/// [`unmask_text`] into other memory, which may be unwritten; if the text is invalid, a part of it may
/// still be.
#[inline]
pub(crate) fn unmask_text_into<B: Byte>(
    dst: &mut [B],
    src: &[u8],
    key: [u8; 4],
    offset: usize,
    before: Cut,
) -> Result<Piece, Invalid> {
    same_length(dst.len(), src.len());
    let key = Key::new(key).at(offset);
    match src.len() {
        0..=15 => few_text(Copied { dst, src }, key, before),
        16..=BASELINE_VECTORS_UP_TO => {
            if before.is_none() && simd::short::<_, IfAscii>(Copied { dst, src }, key).0 {
                return Ok(Piece::Ascii);
            }
            short_text_into(dst, src, key, before)
        }
        len if len <= simd::WIDEST_UP_TO => text_into(dst, src, key, before),
        _ => long_text_into(dst, src, key, before),
    }
}

#[inline(always)]
#[track_caller]
pub(crate) fn same_length(dst: usize, src: usize) {
    assert!(dst == src, "dst has {dst} bytes and src {src}: they must have the same length");
}

/// Every path returns whether the plain bytes are all ASCII; where nobody asks, the compiler drops
/// that part of the work.
#[inline(always)]
fn short<T: InOut>(in_out: T, key: Key) -> bool {
    if in_out.len() < 16 {
        word::below_16(in_out, key).is_ascii()
    } else {
        simd::short(in_out, key)
    }
}

#[inline(always)]
fn few_text<T: InOut>(in_out: T, key: Key, before: Cut) -> Result<Piece, Invalid> {
    let len = in_out.len();
    Answer::of_few(word::below_16(in_out, key), len, before)
}

// Out of line, and with slices for arguments, so that the callers stay small and what they pass
// stays in registers: a struct of two slices would go through memory, 10 ns a call.

#[inline(never)]
fn long_in_place(payload: &mut [u8], key: Key) {
    simd::best(InPlace(payload), key)
}

#[inline(never)]
fn long_in_place_ascii(payload: &mut [u8], key: Key) -> bool {
    simd::best(InPlace(payload), key)
}

#[inline(never)]
fn long_into(dst: &mut [u8], src: &[u8], key: Key) {
    simd::best(Copied { dst, src }, key)
}

#[inline(never)]
fn long_into_uninit(dst: &mut [MaybeUninit<u8>], src: &[u8], key: Key) -> bool {
    simd::best(Copied { dst, src }, key)
}

#[inline(never)]
fn short_text_in_place(payload: &mut [u8], key: Key, before: Cut) -> Result<Piece, Invalid> {
    simd::short_text(InPlace(payload), key, before)
}

#[inline(never)]
fn short_text_into<B: Byte>(
    dst: &mut [B],
    src: &[u8],
    key: Key,
    before: Cut,
) -> Result<Piece, Invalid> {
    simd::short_text(Copied { dst, src }, key, before)
}

#[inline(never)]
fn text_in_place(payload: &mut [u8], key: Key, before: Cut) -> Result<Piece, Invalid> {
    simd::at_level(SimdLevel::best(), InPlace(payload), key, before)
}

#[inline(never)]
fn text_into<B: Byte>(dst: &mut [B], src: &[u8], key: Key, before: Cut) -> Result<Piece, Invalid> {
    simd::at_level(SimdLevel::best(), Copied { dst, src }, key, before)
}

fn long_text_in_place(payload: &mut [u8], key: Key, before: Cut) -> Result<Piece, Invalid> {
    let pieces = payload.chunks_mut(simd::WIDEST_UP_TO);
    in_pieces(pieces.map(InPlace), key, before)
}

fn long_text_into<B: Byte>(
    dst: &mut [B],
    src: &[u8],
    key: Key,
    before: Cut,
) -> Result<Piece, Invalid> {
    let pieces = dst.chunks_mut(simd::WIDEST_UP_TO).zip(src.chunks(simd::WIDEST_UP_TO));
    in_pieces(pieces.map(|(dst, src)| Copied { dst, src }), key, before)
}

/// Long text: the widest vectors are best to check, but not to copy ASCII, and text that has been
/// ASCII so far will probably go on like that.
#[inline(always)]
fn in_pieces<T: InOut>(
    pieces: impl Iterator<Item = T>,
    key: Key,
    mut before: Cut,
) -> Result<Piece, Invalid> {
    let mut level = SimdLevel::best();
    let mut whole = Piece::Ascii;
    for piece in pieces {
        let answer: Result<Piece, Invalid> = simd::at_level(level, piece, key, before);
        match answer? {
            Piece::Ascii => level = SimdLevel::best().at_most_32_bytes(),
            utf8 @ Piece::Utf8 { end } => {
                (level, whole, before) = (SimdLevel::best(), utf8, end);
            }
        }
    }
    Ok(whole)
}

/// The paths for text at a level of one's choice.
#[cfg(test)]
pub(crate) mod text_at {
    use super::*;

    pub(crate) fn in_place(
        level: SimdLevel,
        payload: &mut [u8],
        key: Key,
        before: Cut,
    ) -> Result<Piece, Invalid> {
        simd::at_level(level, InPlace(payload), key, before)
    }

    pub(crate) fn into(
        level: SimdLevel,
        dst: &mut [u8],
        src: &[u8],
        key: Key,
        before: Cut,
    ) -> Result<Piece, Invalid> {
        simd::at_level(level, Copied { dst, src }, key, before)
    }
}
