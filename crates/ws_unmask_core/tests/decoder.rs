//! The decoder against an independent encoder, and against itself on any bytes at all.

mod reference;

use proptest::prelude::*;
use reference::frame;
use std::collections::TryReserveError;
use ws_unmask_core::{DecodeError, Decoder, Masking, Message, ProtocolError, Rules, Violation};

const KEY: Option<[u8; 4]> = Some([0x37, 0xfa, 0x21, 0x3d]);

type Decoded = Vec<Message<Vec<u8>>>;

/// All messages of the pieces, and the error that ended them.
fn decode<'a>(
    rules: Rules,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Decoded, Option<ProtocolError>) {
    let mut decoder = Decoder::new(rules);
    let mut messages = Vec::new();
    for mut input in pieces {
        loop {
            match decoder.next(&mut input) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(DecodeError::<TryReserveError>::Protocol(error)) => {
                    let mut more = &b"\x81\x80\0\0\0\0"[..];
                    let again = decoder.next::<Vec<u8>>(&mut more);
                    assert_eq!(again, Err(DecodeError::Protocol(error)), "it must stay failed");
                    assert!(input.is_empty() && more.is_empty(), "it must not hold up anything");
                    return (messages, Some(error));
                }
                Err(DecodeError::Memory(error)) => panic!("{error}"),
            }
        }
        assert!(input.is_empty(), "None means that all is used");
    }
    (messages, None)
}

fn decode_whole(bytes: &[u8]) -> (Decoded, Option<ProtocolError>) {
    decode(Rules::default(), [bytes])
}

fn text(payload: &str) -> Message<Vec<u8>> {
    Message::Text { payload: payload.into(), reserved: 0 }
}

fn violation(bytes: &[u8]) -> Option<Violation> {
    let whole = decode_whole(bytes);
    assert_eq!(whole, decode(Rules::default(), bytes.chunks(1)), "byte by byte");
    kind(whole.1)
}

fn kind(error: Option<ProtocolError>) -> Option<Violation> {
    error.map(|error| error.kind)
}

/// How many bytes a decoder has been fed when it refuses one, if they come one by one.
fn refused_byte(rules: Rules, bytes: &[u8]) -> Option<u64> {
    let mut decoder = Decoder::new(rules);
    let refused = bytes.chunks(1).position(|mut byte| {
        let first = decoder.next::<Vec<u8>>(&mut byte);
        first.is_err()
            || matches!(first, Ok(Some(_))) && decoder.next::<Vec<u8>>(&mut byte).is_err()
    });
    refused.map(|at| at as u64)
}

#[test]
fn control_frames_come_out_between_fragments() {
    let mut bytes = frame(false, 0, 1, KEY, b"Hel");
    bytes.extend(frame(true, 0, 9, KEY, b"ping"));
    bytes.extend(frame(false, 0, 0, KEY, b""));
    bytes.extend(frame(true, 0, 10, KEY, b""));
    bytes.extend(frame(true, 0, 0, KEY, b"lo"));
    let expected = vec![Message::Ping(b"ping".to_vec()), Message::Pong(vec![]), text("Hello")];
    assert_eq!(decode_whole(&bytes), (expected.clone(), None));
    assert_eq!(decode(Rules::default(), bytes.chunks(1)), (expected, None));
}

#[test]
fn close_comes_parsed_and_what_follows_is_discarded() {
    for (payload, code, reason) in [
        (&b""[..], None, &b""[..]),
        (b"\x03\xe8", Some(1000), b""),
        (b"\x0f\xa0bye", Some(4000), b"bye"),
    ] {
        let mut bytes = frame(true, 0, 8, KEY, payload);
        bytes.extend(b"\xff\xff\xff anything");
        let expected = Message::Close { code, reason: reason.to_vec() };
        assert_eq!(decode_whole(&bytes), (vec![expected], None));
    }
}

#[test]
fn every_rule_of_a_single_frame() {
    let cases: Vec<(Vec<u8>, Violation)> = vec![
        (frame(true, 0, 1, None, b"x"), Violation::NotMasked),
        (frame(true, 4, 1, KEY, b"x"), Violation::ReservedBits(4)),
        (frame(true, 3, 2, KEY, b"x"), Violation::ReservedBits(3)),
        (frame(true, 0, 3, KEY, b"x"), Violation::ReservedOpcode(3)),
        (frame(true, 0, 15, KEY, b"x"), Violation::ReservedOpcode(15)),
        (frame(false, 0, 9, KEY, b"x"), Violation::FragmentedControlFrame(9)),
        (frame(true, 0, 10, KEY, &[0; 126]), Violation::LongControlFrame(10)),
        (frame(true, 0, 8, KEY, &[0; 70_000]), Violation::LongControlFrame(8)),
        (frame(true, 0, 0, KEY, b"x"), Violation::UnexpectedContinuation),
        (b"\x82\xfe\x00\x7d\0\0\0\0".to_vec(), Violation::LengthNotMinimal(125)),
        (b"\x82\xff\0\0\0\0\0\0\xff\xff\0\0\0\0".to_vec(), Violation::LengthNotMinimal(65_535)),
        (b"\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0".to_vec(), Violation::LengthTooLarge(1 << 63)),
        (frame(true, 0, 8, KEY, b"x"), Violation::CloseFrameOfOneByte),
        (frame(true, 0, 8, KEY, b"\x03\xe8\xff"), Violation::InvalidUtf8),
        (frame(true, 0, 8, KEY, b"\x03\xe8\xe2\x82"), Violation::InvalidUtf8),
        (frame(true, 0, 1, KEY, b"caf\xe9"), Violation::InvalidUtf8),
        (frame(true, 0, 1, KEY, b"\xed\xa0\x80"), Violation::InvalidUtf8),
    ];
    for (bytes, expected) in cases {
        assert_eq!(violation(&bytes), Some(expected), "{:x?}", &bytes[..bytes.len().min(16)]);
    }
}

#[test]
fn a_new_message_inside_an_unfinished_one() {
    let bytes = [frame(false, 0, 1, KEY, b"x"), frame(true, 0, 2, KEY, b"y")].concat();
    assert_eq!(violation(&bytes), Some(Violation::UnfinishedMessage));
}

#[test]
fn close_codes() {
    let may = |code: u16| violation(&frame(true, 0, 8, KEY, &code.to_be_bytes())).is_none();
    let allowed: Vec<u16> = (0..=u16::MAX).filter(|&code| may(code)).collect();
    let expected: Vec<u16> = (1000..=1003).chain(1007..=1014).chain(3000..=4999).collect();
    assert_eq!(allowed, expected);
}

#[test]
fn messages_before_a_fault_are_delivered() {
    let bytes = [frame(true, 0, 1, KEY, b"Hello"), frame(true, 0, 1, None, b"x")].concat();
    let (messages, error) = decode_whole(&bytes);
    assert_eq!((messages, kind(error)), (vec![text("Hello")], Some(Violation::NotMasked)));
}

#[test]
fn limits() {
    let rules = Rules { max_frame_size: 10, max_message_size: 15, ..Rules::default() };
    let run = |frames: &[Vec<u8>]| decode(rules, [frames.concat().as_slice()]);
    let exact = [frame(false, 0, 2, KEY, &[1; 10]), frame(true, 0, 0, KEY, &[1; 5])];
    assert_eq!(run(&exact).0.len(), 1);
    let error = run(&[frame(true, 0, 2, KEY, &[1; 11])]).1;
    assert_eq!(kind(error), Some(Violation::FrameTooBig { size: 11, limit: 10 }));
    let over = [frame(false, 0, 2, KEY, &[1; 10]), frame(true, 0, 0, KEY, &[1; 6])];
    let error = run(&over).1.unwrap();
    assert_eq!(error.kind, Violation::MessageTooBig { size: 16, limit: 15 });
    assert_eq!(error.code(), 1009);
    // A control frame is no part of the message.
    assert_eq!(run(&[frame(true, 0, 9, KEY, &[1; 125])]).1, None);
}

#[test]
fn the_largest_length_is_refused_without_an_allocation() {
    let mut decoder = Decoder::new(Rules { max_message_size: u64::MAX, ..Rules::default() });
    let mut input = &b"\x82\xff\x40\0\0\0\0\0\0\0\0\0\0\0some bytes"[..];
    assert_eq!(decoder.next::<Vec<u8>>(&mut input), Ok(None));
    assert!(decoder.allocated() < 100, "{}", decoder.allocated());
}

#[test]
fn an_error_says_where_it_is() {
    let hello = frame(true, 0, 1, KEY, b"Hello");
    let text = |payload: &[u8]| frame(false, 0, 1, KEY, payload);
    let cases: Vec<(Vec<u8>, u64)> = vec![
        (frame(true, 4, 1, KEY, b"x"), 0),
        (frame(true, 0, 1, None, b"x"), 1),
        (b"\x82\xfe\x00\x7d\0\0\0\0".to_vec(), 3), // the last byte of the length
        (b"\x82\xff\0\0\0\0\0\0\xff\xff\0\0\0\0".to_vec(), 9),
        (text(b"caf\xe9 and more"), 6 + 4), // the byte behind \xe9 shows that it is wrong
        (text(b"\xc0 and more"), 6),
        (text(&[b"x".repeat(40_000).as_slice(), b"\xff"].concat()), 8 + 40_000),
        ([text(b"\xe2"), frame(true, 0, 0, KEY, b"\x82A")].concat(), 7 + 6 + 1),
        ([text(b"\xe2"), frame(true, 0, 0, KEY, b"")].concat(), 7 + 5),
        (frame(true, 0, 1, KEY, b"caf\xc3"), 6 + 3),
        (frame(true, 0, 8, KEY, b"\x03\xe8bad \xff reason"), 6 + 2 + 12 - 1), // its last byte
        ([text(b"x"), hello.clone()].concat(), 7),
    ];
    for (bytes, offset) in cases {
        let bytes = [&hello[..], &bytes].concat();
        let error = decode_whole(&bytes).1.unwrap();
        assert_eq!(error.offset, hello.len() as u64 + offset, "{error}");
        assert_eq!(refused_byte(Rules::default(), &bytes), Some(error.offset), "{error}");
    }
}

#[test]
fn a_code_point_may_be_cut_by_a_fragment() {
    let bytes = [
        frame(false, 0, 1, KEY, b"\xe2"),
        frame(false, 0, 0, KEY, b"\x82"),
        frame(true, 0, 0, KEY, b"\xac"),
    ];
    assert_eq!(decode_whole(&bytes.concat()), (vec![text("€")], None));
    assert_eq!(violation(&[&bytes[0][..], &bytes[2]].concat()), Some(Violation::InvalidUtf8));
}

#[test]
fn masking() {
    let (plain, masked) = (frame(true, 0, 1, None, b"Hello"), frame(true, 0, 1, KEY, b"Hello"));
    for (masking, accepted, refused) in [
        (Masking::Required, &masked, Some((&plain, Violation::NotMasked))),
        (Masking::Forbidden, &plain, Some((&masked, Violation::Masked))),
        (Masking::Either, &plain, None),
        (Masking::Either, &masked, None),
    ] {
        let rules = Rules { masking, ..Rules::default() };
        assert_eq!(decode(rules, [&accepted[..]]), (vec![text("Hello")], None));
        if let Some((bytes, kind)) = refused {
            let error = ProtocolError { kind, offset: 1 };
            assert_eq!(decode(rules, [&bytes[..]]), (vec![], Some(error)));
        }
    }
}

#[test]
fn rules_of_extensions() {
    let deflate = Rules { allow_reserved: 4, ..Rules::default() };
    let compressed = Message::Text { payload: vec![0xff], reserved: 4 };
    let bytes = [frame(true, 4, 1, KEY, b"\xff"), frame(true, 2, 1, KEY, b"x")].concat();
    let (messages, error) = decode(deflate, [&bytes[..]]);
    assert_eq!((messages, kind(error)), (vec![compressed], Some(Violation::ReservedBits(2))));

    let lax = Rules { validate_utf8: false, ..Rules::default() };
    let any = Message::Text { payload: b"caf\xe9".to_vec(), reserved: 0 };
    assert_eq!(decode(lax, [&frame(true, 0, 1, KEY, b"caf\xe9")[..]]), (vec![any], None));
}

/// RFC 7692, section 6: the bit is that of a message, so it is set on its first frame only.
#[test]
fn rsv1_is_refused_on_control_and_continuation_frames() {
    let rules = Rules { allow_reserved: 4 | 2, ..Rules::default() };
    for opcode in [8, 9, 10] {
        let error = decode(rules, [&frame(true, 4, opcode, KEY, b"")[..]]).1;
        assert_eq!(kind(error), Some(Violation::ReservedBits(4)), "opcode {opcode}");
    }
    let begun = frame(false, 4, 1, KEY, b"x");
    let continued = |reserved| [begun.clone(), frame(true, reserved, 0, KEY, b"y")].concat();
    assert_eq!(kind(decode(rules, [&continued(4)[..]]).1), Some(Violation::ReservedBits(4)));
    assert_eq!(kind(decode(rules, [&continued(2)[..]]).1), None, "RSV2 has no such rule");
}

/// A message and how it is cut into frames, with control frames in between.
#[derive(Clone, Debug)]
struct Sent {
    message: Message<Vec<u8>>,
    cuts: Vec<prop::sample::Index>,
    key: [u8; 4],
}

fn sent() -> impl Strategy<Value = Sent> {
    let bytes = || {
        prop_oneof![
            8 => prop::collection::vec(any::<u8>(), 0..200),
            1 => prop::collection::vec(any::<u8>(), 60_000..70_000),
        ]
    };
    let message = prop_oneof![
        ".{0,100}".prop_map(|text| Message::Text { payload: text.into_bytes(), reserved: 0 }),
        "[ -~]{0,400}".prop_map(|text| Message::Text { payload: text.into_bytes(), reserved: 0 }),
        "[ä-語]{20000}".prop_map(|text| Message::Text { payload: text.into_bytes(), reserved: 0 }),
        bytes().prop_map(|payload| Message::Binary { payload, reserved: 0 }),
        prop::collection::vec(any::<u8>(), 0..126).prop_map(Message::Ping),
        prop::collection::vec(any::<u8>(), 0..126).prop_map(Message::Pong),
    ];
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (message, cuts, any::<[u8; 4]>()).prop_map(|(message, cuts, key)| Sent { message, cuts, key })
}

fn encode(Sent { message, cuts, key }: &Sent) -> Vec<u8> {
    let (opcode, payload) = match message {
        Message::Text { payload, .. } => (1, payload),
        Message::Binary { payload, .. } => (2, payload),
        Message::Ping(payload) => return frame(true, 0, 9, Some(*key), payload),
        Message::Pong(payload) => return frame(true, 0, 10, Some(*key), payload),
        Message::Close { .. } => unreachable!("it would end the stream"),
    };
    let pieces = cut(payload, cuts);
    let last = pieces.len() - 1;
    let frames = pieces
        .iter()
        .enumerate()
        .map(|(i, piece)| frame(i == last, 0, if i == 0 { opcode } else { 0 }, Some(*key), piece));
    frames.collect::<Vec<_>>().concat()
}

fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|place| &bytes[place[0]..place[1]]).collect()
}

/// Bytes that look like frames often enough to get far.
fn frame_like() -> impl Strategy<Value = Vec<u8>> {
    let frames = (any::<bool>(), 0..16u8, any::<bool>(), prop::collection::vec(any::<u8>(), 0..20))
        .prop_map(|(fin, opcode, masked, payload)| {
            frame(fin, 0, opcode, masked.then_some([1, 2, 3, 4]), &payload)
        });
    let text = (any::<bool>(), 0..3u8, "[aä€🌱]{0,8}")
        .prop_map(|(fin, opcode, text)| frame(fin, 0, opcode, Some([9, 8, 7, 6]), text.as_bytes()));
    prop::collection::vec(prop_oneof![frames, text], 0..6).prop_map(|frames| frames.concat())
}

proptest! {
    #[test]
    fn valid_messages_come_out_the_same_however_they_are_cut(
        sent in prop::collection::vec(sent(), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes: Vec<u8> = sent.iter().flat_map(encode).collect();
        let expected: Decoded = sent.into_iter().map(|sent| sent.message).collect();
        prop_assert_eq!(decode(Rules::default(), cut(&bytes, &cuts)), (expected, None));
    }

    #[test]
    fn any_bytes_mean_the_same_whole_or_byte_by_byte(
        bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..64), frame_like()],
        broken in any::<Option<(prop::sample::Index, u8)>>(),
        masking in prop_oneof![
            Just(Masking::Required), Just(Masking::Forbidden), Just(Masking::Either),
        ],
        validate_utf8 in any::<bool>(),
        allow_reserved in 0..8u8,
        max_frame_size in prop_oneof![Just(u64::MAX), 0..20u64],
        max_message_size in prop_oneof![Just(u64::MAX), 0..40u64],
    ) {
        let mut bytes = bytes;
        if let Some((at, byte)) = broken && !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let rules = Rules {
            masking, validate_utf8, allow_reserved, max_frame_size, max_message_size,
        };
        let (messages, error) = decode(rules, [&bytes[..]]);
        prop_assert_eq!(refused_byte(rules, &bytes), error.map(|error| error.offset));
        prop_assert_eq!((messages, error), decode(rules, bytes.chunks(1)));
    }
}
