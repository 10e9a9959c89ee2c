//! Eight bytes at a time: the path for payloads shorter than a vector, and for machines that have
//! no vectors.

use super::in_out::{InOut, InPlace};
use crate::key::Key;

/// The words of a step of the main loop: with eight, the compiler uses the target's vector registers.
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
        return below_16(in_out, key).is_ascii();
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
        // The last whole word begins before `last` and ends after it, so the tail, read above,
        // overlaps it.
        seen |= unmask_word(&mut in_out, last / 8 * 8, key);
    }
    in_out.write(last, &tail.to_ne_bytes());
    is_ascii(seen)
}

/// Fewer than 16 plain bytes, in two words that overlap.
#[derive(Clone, Copy)]
pub(crate) struct Few {
    /// The bytes from the start, the first one lowest.
    head: u64,
    /// The bytes from `tail_at` to the end.
    tail: u64,
    tail_at: usize,
}

impl Few {
    #[inline(always)]
    pub(crate) fn is_ascii(self) -> bool {
        is_ascii(self.head | self.tail)
    }

    /// All bytes, the first one lowest, and zeros.
    #[inline(always)]
    pub(crate) fn joined(self) -> u128 {
        u128::from(self.head) | u128::from(self.tail) << (8 * self.tail_at)
    }
}

/// Two words that overlap in the middle, both read before either is written.
#[inline(always)]
pub(crate) fn below_16<T: InOut>(mut in_out: T, key: Key) -> Few {
    let len = in_out.len();
    match len {
        0 => Few { head: 0, tail: 0, tail_at: 0 },
        1..4 => {
            let (middle, last) = (len / 2, len - 1);
            let plain = [0, middle, last].map(|at| {
                let [byte] = in_out.read(at);
                byte ^ key.at(at).first_byte()
            });
            in_out.write(0, &plain[..1]);
            in_out.write(middle, &plain[1..2]);
            in_out.write(last, &plain[2..]);
            let [head, middle_byte, tail] = plain.map(u64::from);
            Few { head: head | middle_byte << (8 * middle), tail, tail_at: last }
        }
        4..8 => {
            let last = len - 4;
            let head = u32::from_ne_bytes(in_out.read(0)) ^ key.as_u32();
            let tail = u32::from_ne_bytes(in_out.read(last)) ^ key.at(last).as_u32();
            in_out.write(0, &head.to_ne_bytes());
            in_out.write(last, &tail.to_ne_bytes());
            let [head, tail] = [head, tail].map(|word| u64::from(u32::from_le(word)));
            Few { head, tail, tail_at: last }
        }
        8.. => {
            let last = len - 8;
            let head = plain_word(&in_out, 0, key);
            let tail = plain_word(&in_out, last, key.at(last));
            in_out.write(0, &head.to_ne_bytes());
            in_out.write(last, &tail.to_ne_bytes());
            Few { head: u64::from_le(head), tail: u64::from_le(tail), tail_at: last }
        }
    }
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
