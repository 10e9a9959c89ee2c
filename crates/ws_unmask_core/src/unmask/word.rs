//! Eight bytes at a time: the path for payloads shorter than a vector, and for machines that have
//! no vectors.

use super::answer::Piece;
use super::in_out::{Copied, InOut, InPlace};
use crate::key::Key;
use crate::text::Invalid;
use crate::utf8::Cut;

/// As many words as a step of the main loop takes; with eight the compiler finds that it can use
/// whatever registers the target has.
const WORDS: usize = 8;

/// Unmasks `payload` in place, eight bytes at a time. See [`unmask`](crate::unmask()) for the
/// arguments.
///
/// ```
/// let mut payload = *b"\x7f\x9f\x4d\x51\x58";
/// ws_unmask_core::unmask::word::unmask(&mut payload, [0x37, 0xfa, 0x21, 0x3d], 0);
/// assert_eq!(&payload, b"Hello");
/// ```
pub fn unmask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    any_length(InPlace(payload), Key::new(key).at(offset));
}

#[inline(always)]
pub(crate) fn any_length<T: InOut>(mut in_out: T, key: Key) -> bool {
    let len = in_out.len();
    if len < 16 {
        return below_16::<false, T>(in_out, key);
    }
    let last = len - 8;
    let tail = plain_word(&in_out, last, key.at(last));
    let mut seen = tail;
    let steps = last / (8 * WORDS) * (8 * WORDS);
    for mut piece in in_out.pieces(0, steps, 8 * WORDS) {
        for word in 0..WORDS {
            seen |= unmask_word(&mut piece, 8 * word, key);
        }
    }
    for mut piece in in_out.pieces(steps, last / 8 * 8, 8) {
        seen |= unmask_word(&mut piece, 0, key);
    }
    if !last.is_multiple_of(8) {
        // The last whole word begins before `last` and ends behind it: the tail, read above,
        // then overlaps it.
        seen |= unmask_word(&mut in_out, last / 8 * 8, key);
    }
    in_out.write(last, &tail.to_ne_bytes());
    is_ascii(seen)
}

/// Two words that overlap in the middle, both read before either is written. With `ASCII_OR_NOTHING`,
/// nothing is written unless all is ASCII.
#[inline(always)]
pub(crate) fn below_16<const ASCII_OR_NOTHING: bool, T: InOut>(mut in_out: T, key: Key) -> bool {
    let len = in_out.len();
    match len {
        0 => true,
        1..4 => {
            let (middle, last) = (len / 2, len - 1);
            let plain = [0, middle, last].map(|at| {
                let [byte] = in_out.read(at);
                byte ^ key.at(at).first_byte()
            });
            let ascii = (plain[0] | plain[1] | plain[2]).is_ascii();
            if ascii || !ASCII_OR_NOTHING {
                in_out.write(0, &plain[..1]);
                in_out.write(middle, &plain[1..2]);
                in_out.write(last, &plain[2..]);
            }
            ascii
        }
        4..8 => {
            let last = len - 4;
            let head = u32::from_ne_bytes(in_out.read(0)) ^ key.as_u32();
            let tail = u32::from_ne_bytes(in_out.read(last)) ^ key.at(last).as_u32();
            let ascii = is_ascii((head | tail).into());
            if ascii || !ASCII_OR_NOTHING {
                in_out.write(0, &head.to_ne_bytes());
                in_out.write(last, &tail.to_ne_bytes());
            }
            ascii
        }
        8.. => {
            let last = len - 8;
            let head = plain_word(&in_out, 0, key);
            let tail = plain_word(&in_out, last, key.at(last));
            let ascii = is_ascii(head | tail);
            if ascii || !ASCII_OR_NOTHING {
                in_out.write(0, &head.to_ne_bytes());
                in_out.write(last, &tail.to_ne_bytes());
            }
            ascii
        }
    }
}

/// Text that is shorter than 16 bytes, and most probably not ASCII: it is checked by the standard
/// library, in a place where it can be read again.
#[inline(always)]
pub(crate) fn text_below_16<T: InOut>(in_out: T, key: Key, before: Cut) -> Result<Piece, Invalid> {
    let mut plain = [0; 16];
    let plain = &mut plain[..in_out.len()];
    let src = in_out.masked(0, plain.len());
    let is_ascii = below_16::<false, _>(Copied { dst: plain, src }, key);
    below_16::<false, _>(in_out, key);
    if is_ascii && before.is_none() {
        return Ok(Piece::Ascii);
    }
    before.check(plain).map(|end| Piece::Utf8 { end })
}

/// Text that is unmasked, then checked by the standard library.
#[inline(always)]
pub(crate) fn text_in_two_passes<T: InOut>(
    in_out: T,
    key: Key,
    before: Cut,
) -> Result<Piece, Invalid> {
    let plain = in_out.copied();
    let is_ascii = any_length(InPlace(plain), key);
    if is_ascii && before.is_none() {
        return Ok(Piece::Ascii);
    }
    before.check(plain).map(|end| Piece::Utf8 { end })
}

#[inline(always)]
fn plain_word<T: InOut>(in_out: &T, at: usize, key: Key) -> u64 {
    u64::from_ne_bytes(in_out.read(at)) ^ key.as_u64()
}

#[inline(always)]
fn unmask_word<T: InOut>(in_out: &mut T, at: usize, key: Key) -> u64 {
    let plain = plain_word(in_out, at, key);
    in_out.write(at, &plain.to_ne_bytes());
    plain
}

#[inline(always)]
fn is_ascii(seen: u64) -> bool {
    seen & 0x8080_8080_8080_8080 == 0
}
