//! A decoder that inflates: what compressed messages add to what `decoder.rs` tests.

#![cfg(feature = "deflate")]

mod reference;

use proptest::prelude::*;
use proptest::sample::Index;
use reference::frame;
use std::collections::TryReserveError;
use ws_unmask_core::deflate::{Deflater, Inflater};
use ws_unmask_core::{
    Content, DecodeError, Decoder, MaskedPayload, Masking, Message, Payload, ProtocolError, Rules,
    Violation,
};

const KEY: Option<[u8; 4]> = Some([0x37, 0xfa, 0x21, 0x3d]);
const RSV1: u8 = 4;
const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

/// A connection may move to another thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Decoder>();
    is_send::<ws_unmask_core::Encoder>();
};

type Decoded = (Vec<Message<Vec<u8>>>, Option<ProtocolError>);

fn decode_by<'a>(decoder: &mut Decoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut messages = Vec::new();
    for mut input in pieces {
        loop {
            match decoder.next(&mut input) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(DecodeError::Protocol(error)) => return (messages, Some(error)),
                Err(DecodeError::Memory(error)) => panic!("{error}"),
            }
        }
        assert!(input.is_empty(), "None means that all is used");
    }
    (messages, None)
}

fn decode<'a>(rules: Rules, pieces: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    decode_by(&mut Decoder::with_inflater(rules, Inflater::default()), pieces)
}

fn limit(max_message_size: u64) -> Rules {
    Rules { max_message_size, ..Rules::default() }
}

fn text(payload: &str) -> Message<Vec<u8>> {
    Message::Text { payload: payload.into(), reserved: 0 }
}

fn binary(payload: impl Into<Vec<u8>>) -> Message<Vec<u8>> {
    Message::Binary { payload: payload.into(), reserved: 0 }
}

fn deflated(plain: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    Deflater::new(15, true).deflate(plain, &mut payload).unwrap();
    payload
}

/// A compressed message whose payload is sent in these frames.
fn frames<'a>(opcode: u8, payloads: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let payloads: Vec<_> = payloads.into_iter().collect();
    let mut bytes = Vec::new();
    for (i, payload) in payloads.iter().enumerate() {
        let (reserved, opcode) = if i == 0 { (RSV1, opcode) } else { (0, 0) };
        bytes.extend(frame(i == payloads.len() - 1, reserved, opcode, KEY, payload));
    }
    bytes
}

/// All of the stream, whole and byte by byte, with the same result.
fn decode_both_ways(rules: Rules, stream: &[u8]) -> Decoded {
    let whole = decode(rules, [stream]);
    assert_eq!(decode(rules, stream.chunks(1)), whole, "byte by byte");
    whole
}

fn violation(rules: Rules, stream: &[u8]) -> Option<Violation> {
    decode_both_ways(rules, stream).1.map(|error| error.kind)
}

#[test]
fn a_compressed_message_comes_out_plain_and_without_its_bit() {
    for (opcode, message) in [(1, text("Hello")), (2, binary("Hello"))] {
        let stream = frames(opcode, [&HELLO[..]]);
        assert_eq!(decode_both_ways(Rules::default(), &stream), (vec![message], None));
    }
}

/// RFC 7692, section 7.2.3.1
#[test]
fn only_the_first_fragment_has_the_bit() {
    let stream = b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00";
    let rules = Rules { masking: Masking::Either, ..Rules::default() };
    assert_eq!(decode_both_ways(rules, stream), (vec![text("Hello")], None));
    let stream = b"\x41\x03\xf2\x48\xcd\xc0\x04\xc9\xc9\x07\x00";
    assert_eq!(violation(rules, stream), Some(Violation::ReservedBits(4)));
}

#[test]
fn other_messages_and_control_frames_come_between() {
    let stream = [
        frame(true, 0, 1, KEY, b"plain"),
        frame(false, RSV1, 1, KEY, &HELLO[..2]),
        frame(true, 0, 9, KEY, b"ping"),
        frame(false, 0, 0, KEY, b""),
        frame(true, 0, 10, KEY, b""),
        frame(true, 0, 0, KEY, &HELLO[2..]),
        frame(false, 0, 2, KEY, b"pl"),
        frame(true, 0, 0, KEY, b"ain"),
        frame(true, RSV1, 1, KEY, &[0xf2, 0x00, 0x11, 0x00, 0x00]),
    ]
    .concat();
    let messages = vec![
        text("plain"),
        Message::Ping(b"ping".to_vec()),
        Message::Pong(Vec::new()),
        text("Hello"),
        binary("plain"),
        text("Hello"),
    ];
    assert_eq!(decode_both_ways(Rules::default(), &stream), (messages, None));
}

#[test]
fn control_frames_are_not_compressed() {
    let stream = frame(true, RSV1, 9, KEY, &HELLO);
    assert_eq!(violation(Rules::default(), &stream), Some(Violation::ReservedBits(4)));
}

#[test]
fn a_second_message_within_a_compressed_one_is_refused() {
    let stream = [frame(false, RSV1, 1, KEY, &HELLO), frame(true, RSV1, 1, KEY, &HELLO)].concat();
    assert_eq!(violation(Rules::default(), &stream), Some(Violation::UnfinishedMessage));
}

#[test]
fn other_reserved_bits_stay() {
    let rules = Rules { allow_reserved: 2, ..Rules::default() };
    let stream = frame(true, RSV1 | 2, 1, KEY, &deflated(b"not UTF-8: \xff"));
    let message = Message::Text { payload: b"not UTF-8: \xff".to_vec(), reserved: 2 };
    assert_eq!(decode_both_ways(rules, &stream), (vec![message], None));
}

#[test]
fn without_an_inflater_the_payload_stays_compressed() {
    let rules = Rules { allow_reserved: RSV1, ..Rules::default() };
    let stream = frames(1, [&HELLO[..]]);
    let message = Message::Text { payload: HELLO.to_vec(), reserved: RSV1 };
    assert_eq!(decode_by(&mut Decoder::new(rules), [&stream[..]]), (vec![message], None));
}

#[test]
fn empty_messages() {
    let stream = [frames(1, [&[0][..]]), frames(1, [&[][..]]), frames(2, [&[][..], &[0], &[]])];
    let messages = vec![text(""), text(""), binary("")];
    assert_eq!(decode_both_ways(Rules::default(), &stream.concat()), (messages, None));
}

#[test]
fn what_is_not_deflate_is_refused_with_1007_at_its_frame() {
    let first = frame(false, RSV1, 1, KEY, &HELLO);
    for payload in [&[0x07, 0, 0, 0, 0, 0, 0, 0, 0][..], &HELLO[..3]] {
        let stream = [&first[..], &frame(true, 0, 0, KEY, payload)].concat();
        let (messages, error) = decode_both_ways(Rules::default(), &stream);
        let error = error.unwrap();
        assert_eq!(messages, []);
        assert_eq!((error.kind, error.code()), (Violation::InvalidDeflate, 1007));
        assert_eq!(error.offset, first.len() as u64 + 6);
    }
}

#[test]
fn invalid_utf8_is_refused_as_soon_as_it_is_inflated() {
    let mut plain = "gr\u{fc}n ".repeat(100_000).into_bytes();
    plain[300_001] = 0xff;
    let payload = deflated(&plain);
    let (first, second) = payload.split_at(payload.len() * 3 / 4);
    let stream = frames(1, [first, second]);
    let (messages, error) = decode_both_ways(Rules::default(), &stream[..first.len() + 8]);
    let error = error.expect("an error before the second frame");
    assert_eq!(messages, []);
    assert_eq!((error.kind, error.code(), error.offset), (Violation::InvalidUtf8, 1007, 8));

    let unchecked = Rules { validate_utf8: false, ..Rules::default() };
    let message = Message::Text { payload: plain, reserved: 0 };
    assert_eq!(decode(unchecked, [&stream[..]]), (vec![message], None));
}

#[test]
fn a_code_point_may_be_cut_but_must_end() {
    let smile = "\u{1f600}".as_bytes();
    for at in 0..=4 {
        // Two stored blocks, and the start of a third one.
        let (first, second) = smile.split_at(at);
        let block = |plain: &[u8]| {
            let size = plain.len() as u8;
            [&[0, size, 0, !size, 0xff], plain].concat()
        };
        let (first, second) = (block(first), [block(second), vec![0]].concat());
        let stream = frames(1, [&first[..], &second]);
        let expected = (vec![text("\u{1f600}")], None);
        assert_eq!(decode_both_ways(Rules::default(), &stream), expected);

        let cut = [&first[..], &[0]].concat();
        let expected = (1..4).contains(&at).then_some(Violation::InvalidUtf8);
        assert_eq!(violation(Rules::default(), &frames(1, [&cut[..]])), expected);
    }
}

mod the_limit {
    use super::*;

    /// Random bytes become longer by compression.
    #[test]
    fn holds_for_plain_bytes_only() {
        let mut state = 1_u64;
        let random: Vec<u8> = (0..70_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let payload = deflated(&random);
        assert!(payload.len() > random.len());
        let halves = payload.split_at(payload.len() / 2);
        for stream in [frames(2, [&payload[..]]), frames(2, [halves.0, halves.1])] {
            let expected = (vec![binary(random.clone())], None);
            assert_eq!(decode_both_ways(limit(70_000), &stream), expected);
            let (_, error) = decode_both_ways(limit(69_999), &stream);
            let kind = Violation::MessageTooBig { size: 70_000, limit: 69_999 };
            assert_eq!(error.map(|error| (error.kind, error.code())), Some((kind, 1009)));
        }
    }

    #[test]
    fn for_frames_holds_for_compressed_bytes() {
        let rules = Rules { max_frame_size: 7, ..limit(5) };
        assert_eq!(violation(rules, &frames(1, [&HELLO[..]])), None);
        let rules = Rules { max_frame_size: 6, ..rules };
        let kind = Violation::FrameTooBig { size: 7, limit: 6 };
        assert_eq!(violation(rules, &frames(1, [&HELLO[..]])), Some(kind));
    }

    #[test]
    fn holds_for_uncompressed_messages_as_ever() {
        let kind = Violation::MessageTooBig { size: 6, limit: 5 };
        assert_eq!(violation(limit(5), &frame(true, 0, 1, KEY, b"Hello!")), Some(kind));
        let stream = [frame(false, 0, 1, KEY, b"Hello"), frame(true, 0, 0, KEY, b"!")].concat();
        assert_eq!(violation(limit(5), &stream), Some(kind));
    }

    /// 128 MiB of zeros in 130 KB, in one frame and in 1,000 fragments.
    #[test]
    fn stops_a_bomb() {
        const LIMIT: u64 = 1 << 20;
        let mebibyte = [&deflated(&vec![0; 1 << 20])[..], &[0x00, 0x00, 0xff, 0xff]].concat();
        let bomb = mebibyte.repeat(128);
        for fragments in [1, 1000] {
            let stream = frames(2, bomb.chunks(bomb.len().div_ceil(fragments)));
            for size in [stream.len(), 1] {
                let mut decoder = Decoder::with_inflater(limit(LIMIT), Inflater::default());
                let mut input;
                let mut most = 0;
                let mut error = None;
                for piece in stream.chunks(size) {
                    input = piece;
                    error = decoder.next::<Vec<u8>>(&mut input).err();
                    most = most.max(decoder.allocated());
                    if error.is_some() {
                        break;
                    }
                }
                let Some(DecodeError::Protocol(error)) = error else { panic!("{error:?}") };
                let kind = Violation::MessageTooBig { size: LIMIT + 1, limit: LIMIT };
                assert_eq!((error.kind, error.code()), (kind, 1009));
                assert!(error.offset < 5_000, "at once, and not at {}", error.offset);
                assert!(most < LIMIT as usize + (128 << 10), "{most} bytes");
                assert_eq!(decoder.allocated(), 0);
            }
        }
    }
}

/// A payload for which there is no memory if it is of 5 bytes.
#[derive(Debug, PartialEq)]
struct NotOfFive(Vec<u8>);

#[derive(Debug, PartialEq)]
struct NoMemory;

impl From<TryReserveError> for NoMemory {
    fn from(_: TryReserveError) -> Self {
        Self
    }
}

impl Payload for NotOfFive {
    type Error = NoMemory;

    fn unmask(masked: MaskedPayload<'_>) -> Result<Self, DecodeError<NoMemory>> {
        match masked.len() {
            5 => Err(DecodeError::Memory(NoMemory)),
            _ => Vec::unmask(masked).map(Self).map_err(|_| DecodeError::Memory(NoMemory)),
        }
    }

    fn assembled(plain: Vec<u8>, _: Content) -> Result<Self, NoMemory> {
        Ok(Self(plain))
    }
}

#[test]
fn a_message_for_which_there_is_no_memory_is_left_out() {
    let mut deflater = Deflater::new(15, false);
    let mut stream = Vec::new();
    for plain in ["Hello", "Hello, hello"] {
        let mut payload = Vec::new();
        deflater.deflate(plain.as_bytes(), &mut payload).unwrap();
        stream.extend(frames(1, [&payload[..]]));
    }
    let mut decoder = Decoder::with_inflater(Rules::default(), Inflater::default());
    let mut input = &stream[..];
    assert_eq!(decoder.next::<NotOfFive>(&mut input), Err(DecodeError::Memory(NoMemory)));
    let message = Message::Text { payload: NotOfFive(b"Hello, hello".to_vec()), reserved: 0 };
    assert_eq!(decoder.next(&mut input), Ok(Some(message)));
}

#[test]
fn holds_memory_only_for_compressed_messages() {
    let mut decoder = Decoder::with_inflater(Rules::default(), Inflater::default());
    let idle = decoder.allocated();
    assert!(idle < 256, "{idle}");
    decode_by(&mut decoder, [&frame(true, 0, 1, KEY, b"Hello")[..]]);
    assert_eq!(decoder.allocated(), idle);
    decode_by(&mut decoder, [&frames(1, [&HELLO[..]])[..]]);
    assert!((47_000..50_000).contains(&decoder.allocated()), "{}", decoder.allocated());
    decode_by(&mut decoder, [&frame(true, 0, 8, KEY, b"")[..]]);
    assert_eq!(decoder.allocated(), 0);
}

#[derive(Clone, Debug)]
struct Sent {
    is_text: bool,
    is_compressed: bool,
    plain: Vec<u8>,
    cuts: Vec<Index>,
}

fn sent() -> impl Strategy<Value = Sent> {
    let plain = prop_oneof![
        (Just(true), "(.|abc){0,200}".prop_map(String::into_bytes)),
        (Just(true), ("[a-z\u{e4}]{0,9}", 0..4_000_usize).prop_map(|(s, n)| s.repeat(n).into())),
        (Just(false), prop::collection::vec(any::<u8>(), 0..300)),
        (Just(false), (any::<u8>(), 0..70_000_usize).prop_map(|(byte, n)| vec![byte; n])),
    ];
    let cuts = prop::collection::vec(any::<Index>(), 0..4);
    (plain, any::<bool>(), cuts).prop_map(|((is_text, plain), is_compressed, cuts)| Sent {
        is_text,
        is_compressed,
        plain,
        cuts,
    })
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

fn encode(messages: &[Sent], deflater: &mut Deflater) -> Vec<u8> {
    let mut stream = Vec::new();
    for sent in messages {
        let mut payload = Vec::new();
        if sent.is_compressed {
            deflater.deflate(&sent.plain, &mut payload).unwrap();
        } else {
            payload.clone_from(&sent.plain);
        }
        let fragments = cut(&payload, &sent.cuts);
        for (i, fragment) in fragments.iter().enumerate() {
            let reserved = if i == 0 && sent.is_compressed { RSV1 } else { 0 };
            let opcode = if i == 0 { 2 - u8::from(sent.is_text) } else { 0 };
            let fin = i == fragments.len() - 1;
            stream.extend(frame(fin, reserved, opcode, KEY, fragment));
            stream.extend(frame(true, 0, 9, KEY, b"between"));
        }
    }
    stream
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_sent_comes_out(
        messages in prop::collection::vec(sent(), 1..5),
        reads in prop::collection::vec(any::<Index>(), 0..6),
        bits in 9..=15_u8,
        no_context_takeover: bool,
    ) {
        let stream = encode(&messages, &mut Deflater::new(bits, no_context_takeover));
        let inflater = Inflater::new(no_context_takeover);
        let mut decoder = Decoder::with_inflater(Rules::default(), inflater);
        let (decoded, error) = decode_by(&mut decoder, cut(&stream, &reads));
        prop_assert_eq!(error, None);
        let ping = Message::Ping(b"between".to_vec());
        let decoded: Vec<_> = decoded.into_iter().filter(|message| *message != ping).collect();
        let expected: Vec<_> = messages
            .into_iter()
            .map(|Sent { is_text, plain, .. }| match is_text {
                true => Message::Text { payload: plain, reserved: 0 },
                false => Message::Binary { payload: plain, reserved: 0 },
            })
            .collect();
        prop_assert_eq!(decoded, expected);
    }

    #[test]
    fn any_stream_means_the_same_however_it_is_cut(
        messages in prop::collection::vec(sent(), 1..4),
        broken in prop::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        reads in prop::collection::vec(any::<Index>(), 0..6),
        max_message_size in 0..5_000_u64,
    ) {
        let mut stream = encode(&messages, &mut Deflater::new(15, false));
        for (at, byte) in broken {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        let rules = limit(max_message_size);
        let whole = decode(rules, [&stream[..]]);
        prop_assert_eq!(&decode(rules, stream.chunks(1)), &whole);
        prop_assert_eq!(&decode(rules, cut(&stream, &reads)), &whole);
    }
}
