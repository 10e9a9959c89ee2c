//! UTF-8, checked piece by piece: a code point may be cut anywhere.

use crate::text::Invalid;

/// How far a text has been checked: at most the first three bytes of a code point are kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Utf8 {
    cut: [u8; 3],
    cut_len: u8,
}

impl Utf8 {
    /// Whether all code points so far are complete.
    #[inline(always)]
    pub(crate) fn is_complete(&self) -> bool {
        self.cut_len == 0
    }

    /// Checks the next piece. A byte that makes the text invalid is found in the piece it is in.
    pub(crate) fn check(&mut self, piece: &[u8]) -> Result<(), Invalid> {
        let piece = self.complete(piece)?;
        let (whole, cut) = piece.split_at(piece.len() - cut_at_the_end(piece));
        simdutf8::basic::from_utf8(whole).map_err(|_| Invalid)?;
        if cut.is_empty() { Ok(()) } else { self.keep(cut) }
    }

    /// Completes the code point that the last piece ended in; returns what follows it.
    fn complete<'a>(&mut self, mut piece: &'a [u8]) -> Result<&'a [u8], Invalid> {
        while !self.is_complete() {
            let Some((&next, rest)) = piece.split_first() else { break };
            let mut bytes = [0; 4];
            let (known, len) = (self.cut_len as usize, self.cut_len as usize + 1);
            bytes[..known].copy_from_slice(&self.cut[..known]);
            bytes[known] = next;
            self.keep(&bytes[..len])?;
            piece = rest;
        }
        Ok(piece)
    }

    /// Keeps `bytes` for the next piece if they are the start of a code point, nothing if they are
    /// a whole one.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), Invalid> {
        let cut = match core::str::from_utf8(bytes) {
            Ok(_) => &[],
            Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => bytes,
            Err(_) => return Err(Invalid),
        };
        self.cut[..cut.len()].copy_from_slice(cut);
        self.cut_len = cut.len() as u8;
        Ok(())
    }
}

/// How many bytes at the end belong to a code point that needs more bytes than there are.
fn cut_at_the_end(piece: &[u8]) -> usize {
    for (behind, &byte) in piece.iter().rev().take(3).enumerate() {
        let wanted = match byte {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            0x80.. => continue,
            _ => 1,
        };
        let present = behind + 1;
        return if wanted > present { present } else { 0 };
    }
    0
}

/// The byte that makes `plain` invalid, looked for from `from` on: the bytes before it are valid, but
/// may end in a part of a code point. For error messages, thus only as fast as is convenient.
#[cold]
pub(crate) fn first_invalid(plain: &[u8], from: usize) -> Option<usize> {
    let is_continuation = |byte: &u8| byte & 0xc0 == 0x80;
    let back = from.saturating_sub(3);
    let start = back + plain[back..from].iter().take_while(|byte| is_continuation(byte)).count();
    let error = core::str::from_utf8(&plain[start..]).err()?;
    let at = start + error.valid_up_to();
    Some(match (plain[at], error.error_len()) {
        // It cannot begin a code point; any other byte can, and what follows does not fit.
        (0x80..=0xc1 | 0xf5.., _) => at,
        (_, Some(fitting)) => at + fitting,
        (_, None) => plain.len() - 1,
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{Utf8, first_invalid};
    use proptest::prelude::*;

    /// Whether the check of all pieces agrees with the standard library about the whole.
    fn agrees(text: &[u8], cuts: &[usize]) -> bool {
        let mut utf8 = Utf8::default();
        let mut start = 0;
        let mut valid = true;
        for &cut in cuts.iter().chain([&text.len()]) {
            valid = valid && utf8.check(&text[start..cut]).is_ok();
            start = cut;
        }
        (valid && utf8.is_complete()) == std::str::from_utf8(text).is_ok()
    }

    #[test]
    fn two_bytes_all_of_them_cut_anywhere() {
        for word in 0..=u16::MAX {
            let text = word.to_be_bytes();
            assert!(agrees(&text, &[]) && agrees(&text, &[1]), "{text:x?}");
        }
    }

    #[test]
    fn a_bad_byte_is_found_in_its_piece() {
        for bad in [&[0xc0][..], &[0xf5], &[0xe0, 0x80], &[0xed, 0xa0], &[0xf4, 0x90], b"\xe2\x82A"]
        {
            let mut utf8 = Utf8::default();
            let results: std::vec::Vec<_> =
                bad.iter().map(|byte| utf8.check(&[*byte]).is_ok()).collect();
            assert_eq!(results.last(), Some(&false), "{bad:x?}");
            assert!(results[..results.len() - 1].iter().all(|&ok| ok), "{bad:x?}");
        }
    }

    #[test]
    fn the_first_invalid_byte_is_the_one_that_a_check_byte_by_byte_refuses() {
        let pieces: [&[u8]; 12] = [
            b"a",
            b"\xc3\xbc",
            b"\xe2\x82\xac",
            b"\xf0\x9f\x98\x80",
            b"\xe2\x82A",
            b"\xc0",
            b"\xff",
            b"\xe0\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90",
            b"\xf0\x9f\x98",
            b"\x80",
        ];
        for (first, second, third) in
            pieces.iter().flat_map(|a| pieces.iter().flat_map(move |b| pieces.map(|c| (a, b, c))))
        {
            let text = [*first, second, third].concat();
            let mut utf8 = Utf8::default();
            let refused = text.iter().position(|byte| utf8.check(&[*byte]).is_err());
            let cut = (refused.is_none() && !utf8.is_complete()).then(|| text.len() - 1);
            assert_eq!(first_invalid(&text, 0), refused.or(cut), "{text:x?}");
            if let Some(at) = refused.or(cut) {
                assert_eq!(first_invalid(&text, at), Some(at), "{text:x?}, from {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(
            text in prop_oneof![
                ".{0,40}".prop_map(std::string::String::into_bytes),
                prop::collection::vec(prop_oneof![any::<u8>(), 0x7f..0xc3u8, 0xe0..0xf6u8], 0..12),
            ],
            broken in any::<Option<(prop::sample::Index, u8)>>(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut text = text;
            if let Some((at, byte)) = broken && !text.is_empty() {
                let at = at.index(text.len());
                text[at] = byte;
            }
            let mut cuts: std::vec::Vec<_> =
                cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.sort_unstable();
            prop_assert!(agrees(&text, &cuts));
        }
    }
}
