//! Tests every path, at every level of this machine, against the standard library.

extern crate std;

use super::{Cut, first_invalid};
use crate::SimdLevel;
use crate::key::Key;
use crate::unmask::{Piece, simd, unmask_text, unmask_text_into};
use crate::utf8::Invalid;
use proptest::prelude::*;
use std::vec::Vec;
use std::{format, vec};

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// How many of the cases of an exhaustive test are left out in a debug build, which is slow.
const STEP: usize = if cfg!(debug_assertions) { 197 } else { 1 };

/// What is known about a text so far, according to the standard library.
#[derive(Clone, Copy, Debug, PartialEq)]
enum So {
    Ascii,
    Complete,
    Cut,
    Invalid,
}

fn so_far(text: &[u8]) -> So {
    match str::from_utf8(text) {
        _ if text.is_ascii() => So::Ascii,
        Ok(_) => So::Complete,
        Err(error) if error.error_len().is_none() => So::Cut,
        Err(_) => So::Invalid,
    }
}

/// Both paths, in place and into another slice, which have to agree: at one level, or the ones that
/// are chosen for the length.
struct Paths {
    level: Option<SimdLevel>,
    src: Vec<u8>,
    dst: Vec<u8>,
    /// Where in a cache line they begin.
    alignments: (usize, usize),
}

impl Paths {
    fn at(level: Option<SimdLevel>, alignments: (usize, usize)) -> Self {
        Self { level, src: vec![0; 5_000], dst: vec![0; 5_000], alignments }
    }

    fn for_long_text(level: Option<SimdLevel>) -> Self {
        Self { src: vec![0; 200_000], dst: vec![0; 200_000], ..Self::at(level, (6, 0)) }
    }

    fn check(&mut self, plain: &[u8], before: Cut) -> Result<Piece, Invalid> {
        let place = |memory: &[u8], alignment| memory.as_ptr().align_offset(64) + alignment;
        let from = place(&self.src, self.alignments.0);
        let to = place(&self.dst, self.alignments.1);
        let src = &mut self.src[from..][..plain.len()];
        let dst = &mut self.dst[to..][..plain.len()];
        for ((byte, plain), key) in src.iter_mut().zip(plain).zip(KEY.iter().cycle()) {
            *byte = plain ^ key;
        }
        let copied = match self.level {
            Some(level) => simd::TextByte::text_into(level, dst, src, Key::new(KEY), before),
            None => unmask_text_into(dst, src, KEY, before),
        };
        // Long text that is invalid need not be unmasked to its end.
        let is_all = copied.is_ok() || plain.len() < 32 << 10;
        assert!(!is_all || dst == plain, "{:?}", self.level);
        let in_place = match self.level {
            Some(level) => simd::text_in_place(level, src, Key::new(KEY), before),
            None => unmask_text(src, KEY, 0, before),
        };
        assert!(!is_all || src == plain, "{:?}", self.level);
        assert_eq!(copied, in_place, "{:?}: {plain:x?}", self.level);
        copied
    }

    /// Checks the pieces between `cuts` one after the other: an error has to be found in its piece.
    fn agree(&mut self, text: &[u8], cuts: &[usize]) {
        let (mut start, mut is_ascii, mut before) = (0, true, Cut::default());
        for &cut in cuts.iter().chain([&text.len()]) {
            let piece = self.check(&text[start..cut], before);
            let found = match piece {
                Err(Invalid) => So::Invalid,
                Ok(Piece::Ascii) if is_ascii => So::Ascii,
                Ok(Piece::Ascii) => {
                    if before.is_none() {
                        So::Complete
                    } else {
                        So::Cut
                    }
                }
                Ok(Piece::Utf8 { end }) => {
                    (is_ascii, before) = (false, end);
                    if end.is_none() { So::Complete } else { So::Cut }
                }
            };
            let expected = so_far(&text[..cut]);
            assert_eq!(found, expected, "{:?}: to {cut} of {text:x?}, {cuts:?}", self.level);
            if piece.is_err() {
                return;
            }
            start = cut;
        }
    }
}

fn levels() -> impl Iterator<Item = Option<SimdLevel>> {
    SimdLevel::available().map(Some).chain([None])
}

fn every_level() -> impl Iterator<Item = Paths> {
    levels().map(|level| Paths::at(level, (6, 0)))
}

/// Sequences at which a check can go wrong, each of them valid or broken by its last byte.
const SEQUENCES: [&[u8]; 42] = [
    b"\xc2\x80",
    b"\xdf\xbf",
    b"\xe0\xa0\x80",
    b"\xe1\x80\x80",
    b"\xec\xbf\xbf",
    b"\xed\x9f\xbf",
    b"\xee\x80\x80",
    b"\xef\xbf\xbf",
    b"\xf0\x90\x80\x80",
    b"\xf1\x80\x80\x80",
    b"\xf3\xbf\xbf\xbf",
    b"\xf4\x8f\xbf\xbf",
    b"\x80",
    b"\xbf",
    b"\xc0",
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xf5",
    b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xff",
    b"\xc2",
    b"\xc2\xc2\x80",
    b"\xe0\x80\x80",
    b"\xe0\x9f\xbf",
    b"\xe1\x80",
    b"\xe1",
    b"\xe1\x80\xc2\x80",
    b"\xed\xa0\x80",
    b"\xed\xbf\xbf",
    b"\xf0\x80\x80\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf0\x90\x80",
    b"\xf0\x90",
    b"\xf0",
    b"\xf0\x90\x80\xe1\x80\x80",
    b"\xf4\x90\x80\x80",
    b"\xf4\xbf\xbf\xbf",
    b"\xc2\x80\x80",
    b"\xe1\x80\x80\x80",
    b"\xf1\x80\x80\x80\x80",
    b"\xf1\x80A\x80",
];

#[test]
fn every_code_point() {
    let all: std::string::String = ('\0'..=char::MAX).collect();
    for mut paths in every_level() {
        let mut before = Cut::default();
        for piece in all.as_bytes().chunks(4_001) {
            before = match paths.check(piece, before) {
                Ok(Piece::Ascii) => Cut::default(),
                Ok(Piece::Utf8 { end }) => end,
                Err(Invalid) => panic!("{:?}: {piece:x?}", paths.level),
            };
        }
        assert!(before.is_none());
        for point in ('\0'..=char::MAX).step_by(STEP) {
            let text = format!("{point}, between other characters");
            paths.agree(text.as_bytes(), &[]);
        }
    }
}

/// At places that change from one to the next.
fn all_sequences<const N: usize>(bytes: &[u8], step: usize) {
    for mut paths in every_level() {
        for number in (0..bytes.len().pow(N as u32)).step_by(step) {
            let mut text = [b'x'; 24];
            let mut rest = number;
            for byte in &mut text[number % (25 - N)..][..N] {
                (*byte, rest) = (bytes[rest % bytes.len()], rest / bytes.len());
            }
            paths.agree(&text, &[]);
        }
    }
}

#[test]
fn all_sequences_of_two_bytes() {
    all_sequences::<2>(&(0..=u8::MAX).collect::<Vec<_>>(), 1);
}

#[test]
fn all_sequences_of_three_bytes() {
    all_sequences::<3>(&(0..=u8::MAX).collect::<Vec<_>>(), 1 + (STEP - 1) * 10);
}

#[test]
fn all_sequences_of_four_bytes_that_matter() {
    let bytes = b"\x00A\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\
        \xf1\xf3\xf4\xf5\xff";
    all_sequences::<4>(bytes, STEP);
}

/// In text of every path's length, ASCII and not, whole and cut in front of, within and behind it.
#[test]
fn every_sequence_at_every_place_and_across_every_cut() {
    for mut paths in every_level() {
        for (i, sequence) in SEQUENCES.into_iter().enumerate() {
            for (len, filler) in [
                (7, "x"),
                (20, "x"),
                (50, "é"),
                (100, "é"),
                (127, "x"),
                (180, "x"),
                (220, "é"),
                (255, "x"),
                (560, "你"),
            ] {
                for at in (i % STEP.min(13)..=len).step_by(STEP.min(13)) {
                    let mut text: Vec<u8> =
                        filler.bytes().cycle().take(at / filler.len() * filler.len()).collect();
                    text.resize(at, b'x');
                    text.extend_from_slice(sequence);
                    text.extend(filler.bytes().cycle().take(len - at));
                    paths.agree(&text, &[]);
                    for cut in at.saturating_sub(1)..=(at + 5).min(text.len()) {
                        paths.agree(&text, &[cut]);
                        paths.agree(&text, &[cut, (cut + 1).min(text.len())]);
                    }
                }
            }
        }
    }
}

#[test]
fn every_alignment() {
    let text = "chat: 你好世界 😀, д".repeat(40);
    for level in levels() {
        for alignment in 0..64 {
            let mut paths = Paths::at(level, (63 - alignment, alignment));
            for len in [17, 33, 90, 129, 200, 260, 300, 521, 600, 900] {
                paths.agree(&text.as_bytes()[..len], &[]);
                paths.agree(&text.as_bytes()[..len], &[alignment.min(len)]);
                let mut broken = text.as_bytes()[..len].to_vec();
                broken[alignment * len / 64] ^= 0x80;
                paths.agree(&broken, &[]);
            }
        }
    }
}

/// Long text is worked on in pieces of its own, and ASCII in smaller vectors.
#[test]
fn long_text() {
    let chinese = "chat: 你好世界 ".repeat(5_000);
    let ascii = "chat: hello, world! ".repeat(5_000);
    for level in levels() {
        let mut paths = Paths::for_long_text(level);
        for at in [0, 32_764, 32_766, 32_767, 32_768, 65_535, 70_000] {
            for filler in [&chinese, &ascii] {
                let mut text = filler.as_bytes()[..at].to_vec();
                text.truncate(str::from_utf8(&text).map_or_else(|e| e.valid_up_to(), str::len));
                text.resize(at, b'x');
                for sequence in ["é", "你", "😀"] {
                    let mut text = [&text, sequence.as_bytes(), ascii.as_bytes()].concat();
                    paths.agree(&text, &[]);
                    paths.agree(&text, &[at + 1, at + 40_000]);
                    text[at + 1] = b'x';
                    paths.agree(&text, &[]);
                }
            }
        }
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
        let mut before = Cut::default();
        let refused = text.iter().position(|&byte| match before.check(&[byte]) {
            Ok(end) => {
                before = end;
                false
            }
            Err(Invalid) => true,
        });
        let cut = (refused.is_none() && !before.is_none()).then(|| text.len() - 1);
        assert_eq!(first_invalid(&text, 0), refused.or(cut), "{text:x?}");
        if let Some(at) = refused.or(cut) {
            assert_eq!(first_invalid(&text, at), Some(at), "{text:x?}, from {at}");
        }
    }
}

/// Text in many scripts, and almost valid text.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let script = prop_oneof![
        "[ -~]{1,80}",
        "[а-яё ]{1,40}",
        "[\u{5d0}-\u{5ea}ء-ي ]{1,40}",
        "[ऀ-ॿ ก-๛]{1,30}",
        "[一-鿿]{1,40}",
        "[가-힣ぁ-ん]{1,40}",
        "[😀-🙏🚀-🛿]{1,20}",
        "\\PC{1,40}",
    ];
    let script = script.prop_map(std::string::String::into_bytes);
    let bytes = prop::collection::vec(prop_oneof![any::<u8>(), 0x7f..0xc3u8, 0xe0..0xf6u8], 0..12);
    let parts = prop::collection::vec(prop_oneof![20 => script, 1 => bytes], 0..12);
    parts.prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn agrees_with_the_standard_library(
        text in text(),
        broken in any::<Option<(prop::sample::Index, u8)>>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        alignments in (0..64usize, 0..64usize),
    ) {
        let mut text = text;
        if let Some((at, byte)) = broken && !text.is_empty() {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        for level in levels() {
            Paths::at(level, alignments).agree(&text, &cuts);
            Paths::at(level, alignments).agree(&text, &[]);
        }
    }
}
