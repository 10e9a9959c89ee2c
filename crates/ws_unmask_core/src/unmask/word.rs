//! Eight bytes at a time: the path for payloads shorter than a vector, and for machines that have
//! no vectors.

use super::target::{InPlace, Target};
use crate::key::Key;

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
pub(crate) fn any_length<T: Target>(mut target: T, key: Key) -> bool {
    let len = target.len();
    if len < 16 {
        return below_16(target, key);
    }
    let last = len - 8;
    let tail = plain_word(&target, last, key.at(last));
    let mut seen = tail;
    let steps = last / (8 * WORDS) * (8 * WORDS);
    for mut piece in target.pieces(0, steps, 8 * WORDS) {
        for word in 0..WORDS {
            seen |= unmask_word(&mut piece, 8 * word, key);
        }
    }
    for mut piece in target.pieces(steps, last / 8 * 8, 8) {
        seen |= unmask_word(&mut piece, 0, key);
    }
    if !last.is_multiple_of(8) {
        // The last whole word begins before `last` and ends behind it: the tail, read above,
        // then overlaps it.
        seen |= unmask_word(&mut target, last / 8 * 8, key);
    }
    target.write(last, &tail.to_ne_bytes());
    is_ascii(seen)
}

/// Two words that overlap in the middle, both read before either is written.
#[inline(always)]
pub(crate) fn below_16<T: Target>(mut target: T, key: Key) -> bool {
    let len = target.len();
    match len {
        0 => true,
        1..4 => {
            let (middle, last) = (len / 2, len - 1);
            let plain = [0, middle, last].map(|at| {
                let [byte] = target.read(at);
                byte ^ key.at(at).first_byte()
            });
            target.write(0, &plain[..1]);
            target.write(middle, &plain[1..2]);
            target.write(last, &plain[2..]);
            (plain[0] | plain[1] | plain[2]).is_ascii()
        }
        4..8 => {
            let last = len - 4;
            let head = u32::from_ne_bytes(target.read(0)) ^ key.as_u32();
            let tail = u32::from_ne_bytes(target.read(last)) ^ key.at(last).as_u32();
            target.write(0, &head.to_ne_bytes());
            target.write(last, &tail.to_ne_bytes());
            is_ascii((head | tail).into())
        }
        8.. => {
            let last = len - 8;
            let head = plain_word(&target, 0, key);
            let tail = plain_word(&target, last, key.at(last));
            target.write(0, &head.to_ne_bytes());
            target.write(last, &tail.to_ne_bytes());
            is_ascii(head | tail)
        }
    }
}

#[inline(always)]
fn plain_word<T: Target>(target: &T, at: usize, key: Key) -> u64 {
    u64::from_ne_bytes(target.read(at)) ^ key.as_u64()
}

#[inline(always)]
fn unmask_word<T: Target>(target: &mut T, at: usize, key: Key) -> u64 {
    let plain = plain_word(target, at, key);
    target.write(at, &plain.to_ne_bytes());
    plain
}

#[inline(always)]
fn is_ascii(seen: u64) -> bool {
    seen & 0x8080_8080_8080_8080 == 0
}
