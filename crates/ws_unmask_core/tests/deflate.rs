//! Inflating and deflating against RFC 7692's examples, another implementation, and a reference.

#![cfg(feature = "deflate")]

#[path = "reference/inflate.rs"]
mod reference;

use miniz_oxide::deflate::core::{CompressorOxide, create_comp_flags_from_zip_params};
use miniz_oxide::inflate::stream::InflateState;
use miniz_oxide::{DataFormat, MZFlush};
use proptest::prelude::*;
use proptest::sample::Index;
use ws_unmask_core::deflate::{Deflater, InflateError, Inflater};

const NO_LIMIT: usize = usize::MAX;

fn inflate(inflater: &mut Inflater, payload: &[u8]) -> Result<Vec<u8>, InflateError> {
    inflate_pieces(inflater, [payload], NO_LIMIT)
}

fn inflate_pieces<'a>(
    inflater: &mut Inflater,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    limit: usize,
) -> Result<Vec<u8>, InflateError> {
    let mut plain = Vec::new();
    for mut piece in pieces {
        while inflater.inflate(&mut piece, &mut plain, limit)? {}
        assert!(piece.is_empty(), "false means that all is used");
    }
    inflater.finish()?;
    Ok(plain)
}

fn deflate(deflater: &mut Deflater, plain: &[u8]) -> Vec<u8> {
    let mut payload = b"in front".to_vec();
    deflater.deflate(plain, &mut payload).unwrap();
    payload.split_off(8)
}

fn cut<'a>(mut bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for cut in cuts {
        let piece;
        (piece, bytes) = bytes.split_at(cut.index(bytes.len() + 1));
        pieces.push(piece);
    }
    pieces.push(bytes);
    pieces
}

mod rfc_7692 {
    use super::*;

    #[test]
    fn section_7_2_3_1_a_message_in_one_block() {
        let payload = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflate(&mut Inflater::default(), &payload).unwrap(), b"Hello");
        let (first, second) = payload.split_at(3);
        let pieces = [first, second];
        assert_eq!(inflate_pieces(&mut Inflater::default(), pieces, NO_LIMIT).unwrap(), b"Hello");
        assert_eq!(deflate(&mut Deflater::new(15, false), b"Hello"), payload);
    }

    #[test]
    fn section_7_2_3_2_sharing_the_window() {
        let first = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let second = [0xf2, 0x00, 0x11, 0x00, 0x00];
        let mut inflater = Inflater::new(false);
        assert_eq!(inflate(&mut inflater, &first).unwrap(), b"Hello");
        assert_eq!(inflate(&mut inflater, &second).unwrap(), b"Hello");

        let mut deflater = Deflater::new(15, false);
        assert_eq!(deflate(&mut deflater, b"Hello"), first);
        assert_eq!(deflate(&mut deflater, b"Hello"), second);

        let mut deflater = Deflater::new(15, true);
        assert_eq!(deflate(&mut deflater, b"Hello"), first);
        assert_eq!(deflate(&mut deflater, b"Hello"), first);
    }

    #[test]
    fn section_7_2_3_3_a_block_with_no_compression() {
        let payload = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
        assert_eq!(inflate(&mut Inflater::default(), &payload).unwrap(), b"Hello");
    }

    #[test]
    fn section_7_2_3_4_a_final_block() {
        let payload = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        let mut inflater = Inflater::default();
        assert_eq!(inflate(&mut inflater, &payload).unwrap(), b"Hello");
        assert_eq!(inflate(&mut inflater, &payload).unwrap(), b"Hello");
        let pieces = payload.chunks(1);
        assert_eq!(inflate_pieces(&mut inflater, pieces, NO_LIMIT).unwrap(), b"Hello");
    }

    #[test]
    fn section_7_2_3_5_two_blocks() {
        let payload =
            [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflate(&mut Inflater::default(), &payload).unwrap(), b"Hello");
    }

    #[test]
    fn section_7_2_3_6_an_empty_message() {
        for no_context_takeover in [false, true] {
            let mut inflater = Inflater::new(no_context_takeover);
            let mut deflater = Deflater::new(15, no_context_takeover);
            for plain in [&b""[..], b"Hello", b"", b"", b"Hello"] {
                let payload = deflate(&mut deflater, plain);
                assert_eq!(payload == [0], plain.is_empty());
                assert_eq!(inflate(&mut inflater, &payload).unwrap(), plain);
            }
        }
    }
}

mod inflater {
    use super::*;

    const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

    /// Not even a block's first bits: nothing has to be completed by the tail.
    #[test]
    fn takes_a_payload_of_no_bytes_for_an_empty_message() {
        let mut inflater = Inflater::default();
        for payload in [&[][..], &HELLO, &[], &HELLO] {
            let plain: &[u8] = if payload.is_empty() { b"" } else { b"Hello" };
            assert_eq!(inflate(&mut inflater, payload).unwrap(), plain);
        }
    }

    #[test]
    fn goes_on_behind_a_final_block_with_an_empty_window() {
        let hello = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let twice = [&hello[..], &hello, &[0]].concat();
        assert_eq!(inflate(&mut Inflater::default(), &twice).unwrap(), b"HelloHello");
        let refers_back = [&hello[..], &[0xf2, 0x00, 0x11, 0x00, 0x00]].concat();
        assert_eq!(inflate(&mut Inflater::default(), &refers_back), Err(InflateError::Invalid));
    }

    #[test]
    fn takes_a_final_block_without_an_empty_one_behind_it() {
        let mut inflater = Inflater::default();
        let hello = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflate(&mut inflater, &hello).unwrap(), b"Hello");
        assert_eq!(inflate(&mut inflater, &HELLO).unwrap(), b"Hello");
    }

    #[test]
    fn refuses_what_does_not_end_where_the_tail_does() {
        let with_tail = [&HELLO[..], &[0x00, 0x00, 0xff, 0xff]].concat();
        let garbage = [&HELLO[..], &[0x00, 0x00, 0xff, 0xff, 0x2a]].concat();
        let mut cut_short: Vec<&[u8]> = (1..7).map(|length| &HELLO[..length]).collect();
        cut_short.extend([&with_tail[..], &garbage]);
        // A stored block of five bytes, of which some are missing.
        cut_short.extend([&[0, 5, 0, 0xfa, 0xff][..], &[0, 5, 0, 0xfa, 0xff, 0x48]]);
        for payload in cut_short {
            for no_context_takeover in [false, true] {
                let mut inflater = Inflater::new(no_context_takeover);
                let result = inflate(&mut inflater, payload);
                assert_eq!(result, Err(InflateError::Invalid), "{payload:x?}");
            }
        }
    }

    #[test]
    fn refuses_what_is_not_deflate_at_the_first_such_byte() {
        for (payload, good) in [
            (&[0x07][..], 0),                     // a block of the reserved type
            (&[0xf2, 0x00, 0x11, 0x00], 3),       // goes back before the first byte
            (&[0x00, 0x05, 0x00, 0xfa, 0xfe], 4), // lengths of a stored block
        ] {
            let mut inflater = Inflater::default();
            let mut plain = Vec::new();
            let refused = payload.iter().position(|&byte| {
                let mut piece = &[byte][..];
                inflater.inflate(&mut piece, &mut plain, NO_LIMIT).is_err()
            });
            assert!(refused.is_some_and(|at| at <= good), "{payload:x?}: {refused:?}");
        }
    }

    #[test]
    fn without_context_takeover_no_message_refers_to_another() {
        let mut inflater = Inflater::new(true);
        assert_eq!(inflate(&mut inflater, &HELLO).unwrap(), b"Hello");
        let refers_back = [0xf2, 0x00, 0x11, 0x00, 0x00];
        assert_eq!(inflate(&mut inflater, &refers_back), Err(InflateError::Invalid));
    }

    #[test]
    fn takes_exactly_the_limit() {
        let plain: Vec<u8> = (0..200_000).map(|i| (i % 251) as u8).collect();
        let payload = deflate(&mut Deflater::new(15, true), &plain);
        for (limit, fits) in [(200_001, true), (200_000, true), (199_999, false), (0, false)] {
            for size in [payload.len(), 7, 1] {
                let pieces = payload.chunks(size);
                let result = inflate_pieces(&mut Inflater::default(), pieces, limit);
                if fits {
                    assert_eq!(result.as_ref(), Ok(&plain));
                } else {
                    assert_eq!(result, Err(InflateError::TooBig));
                }
            }
        }
        let nothing = inflate_pieces(&mut Inflater::default(), [&[0][..]], 0);
        assert_eq!(nothing, Ok(Vec::new()));
    }

    /// A byte over the limit, and behind it a block of the reserved type.
    #[test]
    fn counts_what_comes_first() {
        let payload = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x07];
        for (limit, error) in [(4, InflateError::TooBig), (5, InflateError::Invalid)] {
            for size in [payload.len(), 1] {
                let pieces = payload.chunks(size);
                let result = inflate_pieces(&mut Inflater::default(), pieces, limit);
                assert_eq!(result.as_ref(), Err(&error));
            }
        }
    }

    /// 128 MiB of zeros in 130 KB.
    fn bomb() -> Vec<u8> {
        let tail = &[0x00, 0x00, 0xff, 0xff];
        let mebibyte = deflate(&mut Deflater::new(15, true), &vec![0; 1 << 20]);
        [&mebibyte[..], tail].concat().repeat(128)
    }

    #[test]
    fn stops_a_bomb_at_the_limit() {
        const LIMIT: usize = 1 << 20;
        let bomb = bomb();
        assert!((125_000..140_000).contains(&bomb.len()), "{}", bomb.len());
        for size in [bomb.len(), bomb.len().div_ceil(1000), 1] {
            let mut inflater = Inflater::default();
            let mut plain = Vec::new();
            let mut used = 0;
            let result = bomb.chunks(size).try_for_each(|mut piece| {
                used += piece.len();
                loop {
                    let more = inflater.inflate(&mut piece, &mut plain, LIMIT);
                    assert!(plain.capacity() <= LIMIT + (64 << 10));
                    if !more? {
                        return Ok(());
                    }
                }
            });
            assert_eq!(result, Err(InflateError::TooBig));
            assert_eq!(plain.len(), LIMIT + 1, "at once");
            assert!(used <= bomb.len() / 128 + 100 + size, "{used} bytes used");
        }
    }

    #[test]
    fn holds_memory_from_the_first_compressed_message_on() {
        let (mut takeover, mut without) = (Inflater::new(false), Inflater::new(true));
        assert_eq!((takeover.allocated(), without.allocated()), (0, 0));
        inflate(&mut takeover, &HELLO).unwrap();
        without.inflate(&mut &HELLO[..], &mut Vec::new(), NO_LIMIT).unwrap();
        assert_eq!((takeover.allocated(), without.allocated()), (47_552, 47_552));
        without.finish().unwrap();
        assert_eq!(without.allocated(), 0);
    }
}

mod deflater {
    use super::*;

    #[test]
    fn holds_memory_by_its_window_from_the_first_message_on() {
        let mut sizes = Vec::new();
        for bits in 9..=15 {
            let mut deflater = Deflater::new(bits, false);
            assert_eq!(deflater.allocated(), 0);
            deflate(&mut deflater, b"Hello");
            sizes.push(deflater.allocated());
        }
        assert_eq!((sizes[0], sizes[6]), (150_656, 279_680));
        assert!(sizes.is_sorted());
        let mut deflater = Deflater::new(15, true);
        deflate(&mut deflater, b"Hello");
        assert_eq!(deflater.allocated(), 0);
    }

    #[test]
    fn takes_bits_and_levels_out_of_range_for_the_nearest() {
        let text = vec![b'a'; 1000];
        for (bits, level) in [(0, 0), (8, 9), (16, 10), (255, 255)] {
            let mut deflater = Deflater::new(bits, false).with_level(level);
            let payload = deflate(&mut deflater, &text);
            assert_eq!(inflate(&mut Inflater::default(), &payload).unwrap(), text);
        }
    }
}

/// Messages of one connection: each of them random, or text that repeats itself and the others.
fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let words = prop::sample::select(vec!["good ", "morning ", "{\"user\":", "\u{1f600}", "0"]);
    let message = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec(words, 0..400).prop_map(|words| words.concat().into_bytes()),
        (any::<u8>(), 0..100_000_usize).prop_map(|(byte, count)| vec![byte; count]),
    ];
    prop::collection::vec(message, 1..6)
}

/// Compresses by the other implementation.
fn miniz_deflate(stream: &mut CompressorOxide, plain: &[u8]) -> Vec<u8> {
    let mut payload = vec![0; plain.len() * 2 + 100];
    let result = miniz_oxide::deflate::stream::deflate(stream, plain, &mut payload, MZFlush::Sync);
    assert_eq!(result.bytes_consumed, plain.len());
    payload.truncate(result.bytes_written);
    assert!(payload.ends_with(&[0x00, 0x00, 0xff, 0xff]));
    payload.truncate(payload.len() - 4);
    payload
}

/// Inflates by the other implementation.
fn miniz_inflate(stream: &mut InflateState, payload: &[u8], size: usize) -> Vec<u8> {
    let mut plain = vec![0; size + 1];
    let (mut used, mut made) = (0, 0);
    let payload = [payload, &[0x00, 0x00, 0xff, 0xff]].concat();
    loop {
        let room = &mut plain[made..];
        let result =
            miniz_oxide::inflate::stream::inflate(stream, &payload[used..], room, MZFlush::None);
        used += result.bytes_consumed;
        made += result.bytes_written;
        if result.bytes_consumed == 0 && result.bytes_written == 0 {
            break;
        }
    }
    assert_eq!(used, payload.len());
    plain.truncate(made);
    plain
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_deflated_here_is_inflated_here_and_elsewhere(
        messages in messages(),
        cuts in prop::collection::vec(any::<Index>(), 0..5),
        bits in 8..=15_u8,
        level in 0..=9_u8,
        no_context_takeover: bool,
        inflates_without: bool,
    ) {
        let mut deflater = Deflater::new(bits, no_context_takeover).with_level(level);
        let mut inflater = Inflater::new(no_context_takeover && inflates_without);
        let mut other = InflateState::new_boxed(DataFormat::Raw);
        let mut history = Vec::new();
        for message in messages {
            let payload = deflate(&mut deflater, &message);
            let inflated = inflate_pieces(&mut inflater, cut(&payload, &cuts), message.len());
            prop_assert_eq!(inflated.as_ref(), Ok(&message));
            prop_assert_eq!(&miniz_inflate(&mut other, &payload, message.len()), &message);

            // Section 7.2.1: the sender must not use a larger window than the one agreed on.
            let start = history.len();
            let farthest = reference::inflate(&payload, &mut history);
            prop_assert_eq!(&history[start..], &message);
            prop_assert!(farthest <= 1 << bits.max(9), "{} with {} bits", farthest, bits);
        }
    }

    #[test]
    fn what_was_deflated_elsewhere_is_inflated_here(
        messages in messages(),
        cuts in prop::collection::vec(any::<Index>(), 0..5),
        level in 0..=9,
        strategy in 0..=4,
    ) {
        let flags = create_comp_flags_from_zip_params(level, -15, strategy);
        let mut other = CompressorOxide::new(flags);
        let mut inflater = Inflater::default();
        for message in messages.iter().filter(|message| !message.is_empty()) {
            let payload = miniz_deflate(&mut other, message);
            let inflated = inflate_pieces(&mut inflater, cut(&payload, &cuts), message.len());
            prop_assert_eq!(inflated.as_ref(), Ok(message));
        }
    }

    #[test]
    fn any_bytes_mean_the_same_however_they_are_cut(
        payload in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..100),
            (messages(), any::<Index>(), any::<u8>()).prop_map(|(messages, at, byte)| {
                let mut payload = deflate(&mut Deflater::new(15, true), &messages.concat());
                let at = at.index(payload.len());
                payload[at] = byte;
                payload
            }),
        ],
        cuts in prop::collection::vec(any::<Index>(), 0..5),
        limit in 0..5_000_usize,
    ) {
        let whole = inflate_pieces(&mut Inflater::default(), [&payload[..]], limit);
        let by_byte = inflate_pieces(&mut Inflater::default(), payload.chunks(1), limit);
        prop_assert_eq!(&by_byte, &whole);
        let in_pieces = inflate_pieces(&mut Inflater::default(), cut(&payload, &cuts), limit);
        prop_assert_eq!(&in_pieces, &whole);
    }
}
