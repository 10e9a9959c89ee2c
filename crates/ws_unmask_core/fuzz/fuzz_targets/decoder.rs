//! Any bytes mean the same however they are cut; and valid messages, encoded by an independent
//! encoder, come out as they went in.

#![no_main]

#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use ws_unmask_core::{DecodeError, Decoder, Masking, Message, ProtocolError, Rules};

#[derive(arbitrary::Arbitrary, Debug)]
struct Input {
    masking: u8,
    allow_reserved: u8,
    validate_utf8: bool,
    max_message_size: u16,
    key: [u8; 4],
    cuts: Vec<u8>,
    stream: Stream,
}

#[derive(arbitrary::Arbitrary, Debug)]
enum Stream {
    Bytes(Vec<u8>),
    Frames(Vec<(bool, u8, bool, Vec<u8>)>),
    Messages(Vec<Sent>),
}

#[derive(arbitrary::Arbitrary, Debug)]
enum Sent {
    Text(String, u8),
    Binary(Vec<u8>, u8),
    Ping(u8),
}

type Decoded = (Vec<Message<Vec<u8>>>, Option<ProtocolError>);

fn decode<'a>(rules: Rules, pieces: impl Iterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = Decoder::new(rules);
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
    }
    (messages, None)
}

fn cut<'a>(mut bytes: &'a [u8], cuts: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut cuts = cuts.iter().cycle();
    std::iter::from_fn(move || {
        let size = usize::from(*cuts.next().unwrap_or(&0)).max(1).min(bytes.len());
        let piece;
        (piece, bytes) = bytes.split_at(size);
        (!piece.is_empty()).then_some(piece)
    })
}

/// In two fragments, cut at `at`, if it is not 0.
fn fragments(opcode: u8, payload: &[u8], at: u8, key: [u8; 4]) -> Vec<u8> {
    let at = usize::from(at).min(payload.len());
    if at == 0 {
        return reference::frame(true, 0, opcode, Some(key), payload);
    }
    let first = reference::frame(false, 0, opcode, Some(key), &payload[..at]);
    [first, reference::frame(true, 0, 0, Some(key), &payload[at..])].concat()
}

fuzz_target!(|input: Input| {
    let rules = Rules {
        masking: [Masking::Required, Masking::Forbidden, Masking::Either]
            [usize::from(input.masking % 3)],
        allow_reserved: input.allow_reserved & 7,
        validate_utf8: input.validate_utf8,
        max_message_size: input.max_message_size.into(),
        ..Rules::default()
    };
    let key = input.key;
    let mut expected = None;
    let bytes = match &input.stream {
        Stream::Bytes(bytes) => bytes.clone(),
        Stream::Frames(frames) => frames
            .iter()
            .flat_map(|(fin, opcode, masked, payload)| {
                reference::frame(*fin, 0, opcode & 15, masked.then_some(key), payload)
            })
            .collect(),
        Stream::Messages(messages) => {
            expected = Some(messages.iter().map(|sent| match sent {
                Sent::Text(text, _) => Message::Text { payload: text.clone().into(), reserved: 0 },
                Sent::Binary(bytes, _) => Message::Binary { payload: bytes.clone(), reserved: 0 },
                Sent::Ping(len) => Message::Ping(vec![*len; usize::from(*len % 126)]),
            }));
            messages
                .iter()
                .flat_map(|sent| match sent {
                    Sent::Text(text, at) => fragments(1, text.as_bytes(), *at, key),
                    Sent::Binary(bytes, at) => fragments(2, bytes, *at, key),
                    Sent::Ping(len) => fragments(9, &vec![*len; usize::from(*len % 126)], 0, key),
                })
                .collect()
        }
    };
    if let Some(expected) = expected {
        let decoded = decode(Rules::default(), cut(&bytes, &input.cuts));
        assert_eq!(decoded, (expected.collect(), None));
    }
    let whole = decode(rules, [&bytes[..]].into_iter());
    assert_eq!(whole, decode(rules, bytes.chunks(1)));
    assert_eq!(whole, decode(rules, cut(&bytes, &input.cuts)));
});
