//! Any bytes, inflated, mean the same however they are cut, and stop at the limit; messages that were
//! deflated come out as they went in; any header is answered.

#![no_main]

#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use ws_unmask_core::deflate::{Deflater, InflateError, Inflater, Parameters};
use ws_unmask_core::{DecodeError, Decoder, Message, ProtocolError, Rules};

#[derive(arbitrary::Arbitrary, Debug)]
enum Input {
    Inflate { payloads: Vec<Vec<u8>>, cuts: Vec<u8>, limit: u16, no_context_takeover: bool },
    Decode { frames: Vec<Frame>, cuts: Vec<u8>, limit: u16, no_context_takeover: bool },
    Deflate { messages: Vec<(u8, Vec<u8>)>, cuts: Vec<u8>, bits: u8, level: u8, takeover: bool },
    Negotiate { header: String, wanted: (bool, bool, u8, u8) },
}

#[derive(arbitrary::Arbitrary, Debug)]
struct Frame {
    fin: bool,
    is_compressed: bool,
    opcode: u8,
    payload: Payload,
}

#[derive(arbitrary::Arbitrary, Debug)]
enum Payload {
    AsItIs(Vec<u8>),
    Deflated(Vec<u8>, u8),
}

type Decoded = (Vec<Message<Vec<u8>>>, Option<ProtocolError>);

fn decode<'a>(mut decoder: Decoder, pieces: impl Iterator<Item = &'a [u8]>) -> Decoded {
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

fn inflate<'a>(
    inflater: &mut Inflater,
    pieces: impl Iterator<Item = &'a [u8]>,
    limit: usize,
) -> Result<Vec<u8>, InflateError> {
    let mut plain = Vec::new();
    for mut piece in pieces {
        loop {
            let more = inflater.inflate(&mut piece, &mut plain, limit);
            assert!(plain.len() <= limit.saturating_add(1));
            assert!(plain.capacity() <= limit.saturating_add(64 << 10));
            if !more? {
                break;
            }
        }
    }
    inflater.finish()?;
    Ok(plain)
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

fuzz_target!(|input: Input| match input {
    Input::Inflate { payloads, cuts, limit, no_context_takeover } => {
        let mut inflaters = [(); 3].map(|()| Inflater::new(no_context_takeover));
        for payload in payloads {
            let limit = limit.into();
            let [whole, by_byte, in_pieces] = &mut inflaters;
            let whole = inflate(whole, [&payload[..]].into_iter(), limit);
            assert_eq!(inflate(by_byte, payload.chunks(1), limit), whole);
            assert_eq!(inflate(in_pieces, cut(&payload, &cuts), limit), whole);
            if whole.is_err() {
                break;
            }
        }
    }
    Input::Decode { frames, cuts, limit, no_context_takeover } => {
        let key = Some([0x37, 0xfa, 0x21, 0x3d]);
        let stream: Vec<u8> = frames
            .into_iter()
            .flat_map(|Frame { fin, is_compressed, opcode, payload }| {
                let payload = match payload {
                    Payload::AsItIs(payload) => payload,
                    Payload::Deflated(plain, times) => {
                        let mut payload = Vec::new();
                        let plain = plain.repeat(times.into());
                        Deflater::new(15, true).deflate(&plain, &mut payload).unwrap();
                        payload
                    }
                };
                reference::frame(fin, u8::from(is_compressed) << 2, opcode & 15, key, &payload)
            })
            .collect();
        let rules = Rules { max_message_size: limit.into(), ..Rules::default() };
        let decoder = || Decoder::with_inflater(rules, Inflater::new(no_context_takeover));
        let whole = decode(decoder(), [&stream[..]].into_iter());
        assert_eq!(decode(decoder(), stream.chunks(1)), whole);
        assert_eq!(decode(decoder(), cut(&stream, &cuts)), whole);
    }
    Input::Deflate { messages, cuts, bits, level, takeover } => {
        let mut deflater = Deflater::new(bits, !takeover).with_level(level);
        let mut inflater = Inflater::new(!takeover);
        for (times, message) in messages {
            let message = message.repeat(times.into());
            let mut payload = Vec::new();
            deflater.deflate(&message, &mut payload).unwrap();
            let plain = inflate(&mut inflater, cut(&payload, &cuts), message.len());
            assert_eq!(plain, Ok(message));
        }
    }
    Input::Negotiate { header, wanted: (server, client, server_bits, client_bits) } => {
        let wanted = Parameters {
            server_no_context_takeover: server,
            client_no_context_takeover: client,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits,
        };
        let _ = wanted.confirm(&header);
        if let Ok(Some(accepted)) = wanted.accept(&header) {
            // What a server answers conforms to the grammar and to section 7.
            let confirmed = Parameters::default().confirm(&accepted.response);
            assert!(confirmed.is_ok() || accepted.parameters.client_max_window_bits == 8);
        }
    }
});
