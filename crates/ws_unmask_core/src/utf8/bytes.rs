//! Checks UTF-8 one byte at a time, for text too short for the call of vectorized code.

use super::{Cut, Word};
use crate::utf8::Invalid;

/// What may come next; each is the place of six bits in a row of [`NEXT`].
const ANY: u64 = 0;
const ONE_MORE: u64 = 6;
const TWO_MORE: u64 = 12;
const THREE_MORE: u64 = 18;
const BEHIND_E0: u64 = 24;
const BEHIND_ED: u64 = 30;
const BEHIND_F0: u64 = 36;
const BEHIND_F4: u64 = 42;
const INVALID: u64 = 48;

const fn next(state: u64, byte: u8) -> u64 {
    match (state, byte) {
        (ANY, 0..=0x7f) | (ONE_MORE, 0x80..=0xbf) => ANY,
        (ANY, 0xc2..=0xdf)
        | (TWO_MORE, 0x80..=0xbf)
        | (BEHIND_E0, 0xa0..=0xbf)
        | (BEHIND_ED, 0x80..=0x9f) => ONE_MORE,
        (ANY, 0xe0) => BEHIND_E0,
        (ANY, 0xed) => BEHIND_ED,
        (ANY, 0xe1..=0xef)
        | (THREE_MORE, 0x80..=0xbf)
        | (BEHIND_F0, 0x90..=0xbf)
        | (BEHIND_F4, 0x80..=0x8f) => TWO_MORE,
        (ANY, 0xf0) => BEHIND_F0,
        (ANY, 0xf1..=0xf3) => THREE_MORE,
        (ANY, 0xf4) => BEHIND_F4,
        _ => INVALID,
    }
}

/// For each byte the next states, so that one shift finds the next one.
static NEXT: [u64; 256] = {
    let mut rows = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut state = ANY;
        while state <= INVALID {
            rows[byte] |= next(state, byte as u8) << state;
            state += 6;
        }
        byte += 1;
    }
    rows
};

impl Cut {
    /// Checks the next piece: the `len` lowest bytes of `text`.
    #[inline(never)]
    pub(crate) fn check_few(self, text: u128, len: usize) -> Result<Self, Invalid> {
        let mut row = ANY;
        let mut see = |byte: u8| row = NEXT[usize::from(byte)] >> (row & 63);
        if !self.is_none() {
            // The zeros in front of it are characters, too.
            self.word().to_le_bytes().into_iter().for_each(&mut see);
        }
        text.to_le_bytes().into_iter().take(len).for_each(see);
        if row & 63 == INVALID {
            return Err(Invalid);
        }
        Self::at_the_end(self.word_before(len, |at| (text >> (8 * at)) as Word))
    }
}
