//! Text in every path at every level, whole and in pieces, against the standard library.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::mem::MaybeUninit;
use ws_unmask_core::unmask::{scalar, simd};
use ws_unmask_core::{Content, Decoder, Message, Rules, SimdLevel};

#[derive(arbitrary::Arbitrary, Debug)]
struct Input {
    key: [u8; 4],
    /// Where in a cache line the masked and the plain bytes begin.
    alignments: (u8, u8),
    /// Of which a short one is repeated, so that all paths are reached.
    text: Vec<u8>,
    repeat: u8,
    behind: Vec<u8>,
    /// Where the text is cut into fragments.
    cuts: Vec<u16>,
}

fuzz_target!(|input: Input| {
    let mut plain = input.text.repeat(usize::from(input.repeat % 40) + 1);
    plain.extend(&input.behind);
    let expected = match std::str::from_utf8(&plain) {
        _ if plain.is_ascii() => Some(Content::Ascii),
        Ok(_) => Some(Content::Utf8),
        Err(_) => None,
    };
    let (from, to) = (usize::from(input.alignments.0 % 64), usize::from(input.alignments.1 % 64));
    for level in SimdLevel::available() {
        let mut memory = vec![0; plain.len() + 128];
        let start = memory.as_ptr().align_offset(64) + from;
        let masked = &mut memory[start..][..plain.len()];
        masked.copy_from_slice(&plain);
        scalar::unmask(masked, input.key, 0);

        let mut place = vec![MaybeUninit::new(0xa5); plain.len() + 128];
        let start = place.as_ptr().align_offset(64) + to;
        let dst = &mut place[start..][..plain.len()];
        let copied = simd::unmask_text_into_at(level, dst, masked, input.key, 0);
        assert_eq!(copied, expected, "{level}: copied");

        let in_place = simd::unmask_text_at(level, masked, input.key, 0);
        assert_eq!(in_place, expected, "{level}: in place");
        assert_eq!(masked, plain, "{level}");
    }
    in_fragments(&plain, &input.cuts, input.key, expected.is_some());
});

fn in_fragments(plain: &[u8], cuts: &[u16], key: [u8; 4], is_valid: bool) {
    let mut ends: Vec<usize> =
        cuts.iter().take(8).map(|&cut| usize::from(cut) % (plain.len() + 1)).collect();
    ends.sort_unstable();
    ends.push(plain.len());
    let mut stream = Vec::new();
    let mut start = 0;
    for (i, &end) in ends.iter().enumerate() {
        let is_last = i + 1 == ends.len();
        let opcode = if i == 0 { 1 } else { 0 };
        stream.push(if is_last { 0x80 | opcode } else { opcode });
        let piece = &plain[start..end];
        match piece.len() {
            len @ 0..126 => stream.push(0x80 | len as u8),
            len @ 126..0x1_0000 => {
                stream.push(0xfe);
                stream.extend((len as u16).to_be_bytes());
            }
            len => {
                stream.push(0xff);
                stream.extend((len as u64).to_be_bytes());
            }
        }
        stream.extend(key);
        let at = stream.len();
        stream.extend(piece);
        scalar::unmask(&mut stream[at..], key, 0);
        start = end;
    }
    let mut decoder = Decoder::new(Rules::default());
    match decoder.next::<Vec<u8>>(&mut &stream[..]) {
        Ok(Some(Message::Text { payload, .. })) => assert!(is_valid && payload == plain),
        Err(_) => assert!(!is_valid),
        other => panic!("{other:?}"),
    }
}
