//! Unmasking: which path for which length.
//!
//! | bytes | path |
//! | --- | --- |
//! | 0–15 | [`word`]: two overlapping words, the second one ending where the payload ends |
//! | 16–128 | [`simd`]: two, four or eight overlapping 16-byte blocks, without asking the CPU |
//! | 129– | [`simd`]: head, aligned middle and tail in the widest vectors of this CPU |
//!
//! No path has a byte loop: what an even number of vectors does not cover is covered by one that
//! overlaps its neighbour. All of a short payload, and the head and tail of a long one, are read
//! before anything is written, so the overlap is written twice with the same right bytes.

mod in_out;
pub mod scalar;
pub mod simd;
pub mod word;

use crate::key::Key;
use core::mem::MaybeUninit;
use in_out::{Copied, InOut, InPlace};

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
#[inline]
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

#[inline(always)]
#[track_caller]
pub(crate) fn same_length(dst: usize, src: usize) {
    assert!(dst == src, "dst has {dst} bytes and src {src}: they must have the same length");
}

/// Every path returns whether the plain bytes are all ASCII; where nobody asks, the compiler drops
/// that part of the work.
#[inline(always)]
fn short<T: InOut>(in_out: T, key: Key) -> bool {
    if in_out.len() < 16 { word::below_16(in_out, key) } else { simd::short(in_out, key) }
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
