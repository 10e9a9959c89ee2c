//! The encoder against the reference, and with the decoder at the other end.

mod reference;

use proptest::prelude::*;
use reference::frame;
use ws_unmask_core::frame::Opcode;
use ws_unmask_core::{EncodeError, Encoder, Violation};

fn encode(
    encoder: &mut Encoder,
    opcode: Opcode,
    payload: &[u8],
    key: Option<[u8; 4]>,
) -> Result<Vec<u8>, EncodeError> {
    let mut output = b"in front".to_vec();
    let result = encoder.encode(opcode, payload, key, &mut output);
    assert!(output.starts_with(b"in front"));
    assert!(result.is_ok() || output.len() == 8, "output is as it was");
    result.map(|()| output.split_off(8))
}

#[test]
fn refuses_control_frames_that_are_too_long() {
    for opcode in [Opcode::Ping, Opcode::Pong, Opcode::Close] {
        assert!(encode(&mut Encoder::new(), opcode, &[0; 125], None).is_ok());
        let result = encode(&mut Encoder::new(), opcode, &[0; 126], None);
        let Err(EncodeError::Protocol(error)) = result else { panic!("{result:?}") };
        assert_eq!(error.kind, Violation::LongControlFrame(opcode as u8));
    }
}

#[test]
fn refuses_a_continuation_of_nothing() {
    let result = encode(&mut Encoder::new(), Opcode::Continuation, b"more", None);
    let Err(EncodeError::Protocol(error)) = result else { panic!("{result:?}") };
    assert_eq!(error.kind, Violation::UnexpectedContinuation);
}

proptest! {
    #[test]
    fn writes_the_frames_of_the_reference(
        number in prop::sample::select(vec![1, 2, 8, 9, 10]),
        payload in (any::<u8>(), prop_oneof![0..130_usize, 65_530..65_540_usize])
            .prop_map(|(byte, length)| vec![byte; length]),
        key: Option<[u8; 4]>,
    ) {
        let opcode = Opcode::new(number).unwrap();
        prop_assume!(!opcode.is_control() || payload.len() < 126);
        let encoded = encode(&mut Encoder::new(), opcode, &payload, key);
        prop_assert_eq!(encoded, Ok(frame(true, 0, number, key, &payload)));
    }
}

#[cfg(feature = "deflate")]
mod compressed {
    use super::*;
    use ws_unmask_core::deflate::{Deflater, Inflater};
    use ws_unmask_core::{Decoder, Masking, Message, Rules};

    const RSV1: u8 = 0x40;

    fn is_compressed(bytes: &[u8]) -> bool {
        bytes[0] & RSV1 != 0
    }

    #[test]
    fn from_the_threshold_on() {
        let mut encoder = Encoder::with_deflater(Deflater::new(15, false), 100);
        let bytes = encode(&mut encoder, Opcode::Text, &[b'a'; 99], None).unwrap();
        assert_eq!(bytes, frame(true, 0, 1, None, &[b'a'; 99]));
        assert_eq!(encoder.allocated(), 0);
        for opcode in [Opcode::Text, Opcode::Binary] {
            let bytes = encode(&mut encoder, opcode, &[b'a'; 100], None).unwrap();
            assert!(is_compressed(&bytes) && bytes.len() < 20);
        }
        assert!(encoder.allocated() > 0);
    }

    #[test]
    fn neither_control_frames_nor_empty_messages() {
        let mut encoder = Encoder::with_deflater(Deflater::new(15, false), 0);
        for opcode in [Opcode::Ping, Opcode::Pong, Opcode::Close] {
            let bytes = encode(&mut encoder, opcode, &[3; 100], None).unwrap();
            assert!(!is_compressed(&bytes));
        }
        assert_eq!(encode(&mut encoder, Opcode::Text, b"", None).unwrap(), [0x81, 0]);
    }

    #[test]
    fn only_if_it_becomes_shorter_unless_the_next_message_may_refer_to_it() {
        for no_context_takeover in [false, true] {
            let mut encoder = Encoder::with_deflater(Deflater::new(15, no_context_takeover), 0);
            let bytes = encode(&mut encoder, Opcode::Text, b"xyz", None).unwrap();
            assert_eq!(is_compressed(&bytes), !no_context_takeover);
            assert_eq!(bytes.len(), if no_context_takeover { 5 } else { 7 });
        }
    }

    #[test]
    fn a_message_that_cannot_be_sent_is_not_referred_to() {
        let mut encoder = Encoder::with_deflater(Deflater::new(15, false), 0);
        let first = encode(&mut encoder, Opcode::Text, b"Hello", None).unwrap();
        encoder.prepare(Opcode::Text, b"Hello", None).unwrap();
        encoder.forget();
        assert_eq!(encode(&mut encoder, Opcode::Text, b"Hello", None).unwrap(), first);
    }

    fn messages() -> impl Strategy<Value = Vec<(bool, Vec<u8>)>> {
        let words = prop::sample::select(vec!["good ", "morning ", "{\"user\":", "\u{1f600}"]);
        let message = prop_oneof![
            (Just(false), prop::collection::vec(any::<u8>(), 0..300)),
            (Just(true), prop::collection::vec(words, 0..9).prop_map(|it| it.concat().into())),
            (any::<bool>(), (0..100_000_usize).prop_map(|length| vec![b'a'; length])),
        ];
        prop::collection::vec(message, 1..6)
    }

    proptest! {
        #[test]
        fn messages_come_out_at_the_other_end(
            messages in messages(),
            key: Option<[u8; 4]>,
            threshold in 0..100_usize,
            bits in 9..=15_u8,
            level in 0..=9_u8,
            no_context_takeover: bool,
        ) {
            let deflater = Deflater::new(bits, no_context_takeover).with_level(level);
            let mut encoder = Encoder::with_deflater(deflater, threshold);
            let masking = if key.is_some() { Masking::Required } else { Masking::Forbidden };
            let rules = Rules { masking, ..Rules::default() };
            let mut decoder = Decoder::with_inflater(rules, Inflater::new(no_context_takeover));
            let mut stream = Vec::new();
            for (is_text, payload) in &messages {
                let opcode = if *is_text { Opcode::Text } else { Opcode::Binary };
                encoder.encode(opcode, payload, key, &mut stream).unwrap();
            }
            let mut input = &stream[..];
            for (is_text, payload) in messages {
                let message = match is_text {
                    true => Message::Text { payload, reserved: 0 },
                    false => Message::Binary { payload, reserved: 0 },
                };
                prop_assert_eq!(decoder.next(&mut input), Ok(Some(message)));
            }
            prop_assert!(input.is_empty());
        }
    }
}
