//! Frames: headers as they are written, against an independent encoder and against the parser, and
//! frames in a buffer.

mod reference;

use proptest::prelude::*;
use ws_unmask_core::frame::{Frame, Header, Opcode, check_payload};
use ws_unmask_core::{Masking, MessageState, ProtocolError, Rules, Violation};

fn opcode() -> impl Strategy<Value = Opcode> {
    use Opcode::*;
    prop::sample::select(vec![Continuation, Text, Binary, Close, Ping, Pong])
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![0..300usize, prop::sample::select(vec![65_535, 65_536, 70_000])]
}

proptest! {
    #[test]
    fn a_header_is_written_as_the_reference_writes_it(
        fin in any::<bool>(),
        reserved in 0..8u8,
        opcode in opcode(),
        key in any::<Option<[u8; 4]>>(),
        length in length(),
    ) {
        let header = Header { fin, reserved, opcode, key, length: length as u64 };
        let expected = reference::frame(fin, reserved, opcode as u8, key, &vec![0; length]);
        let (bytes, size) = header.encode();
        prop_assert_eq!(size, expected.len() - length);
        prop_assert_eq!(&bytes[..size], &expected[..size]);
    }

    #[test]
    fn what_is_written_is_parsed(
        reserved in 0..8u8,
        opcode in opcode(),
        key in any::<Option<[u8; 4]>>(),
        length in length(),
    ) {
        let length = if opcode.is_control() { length % 126 } else { length };
        let is_first = matches!(opcode, Opcode::Text | Opcode::Binary);
        let reserved = if is_first { reserved } else { reserved & 3 };
        let header = Header { fin: true, reserved, opcode, key, length: length as u64 };
        let (bytes, size) = header.encode();
        let frame = [&bytes[..size], &vec![0; length]].concat();
        let rules = Rules { masking: Masking::Either, allow_reserved: 7, ..Rules::default() };
        let parsed = Frame::parse(&frame, &rules).unwrap().unwrap();
        prop_assert_eq!((parsed.header, parsed.size(), header.size()), (header, frame.len(), size));
    }

    #[test]
    fn every_length_is_parsed_as_it_is_written(length in any::<u64>(), shift in 0..64u32) {
        let length = length >> shift >> 1;
        let header = Header { fin: true, reserved: 0, opcode: Opcode::Binary, key: None, length };
        let (bytes, size) = header.encode();
        let rules = Rules { masking: Masking::Either, ..Rules::default() };
        prop_assert_eq!(Header::missing(&bytes[..size], &rules), Ok(length));
    }

    #[test]
    fn a_reader_that_reads_what_is_missing_never_reads_beyond_the_frame(
        opcode in opcode(),
        key in any::<Option<[u8; 4]>>(),
        length in length(),
    ) {
        prop_assume!(!opcode.is_control() || length <= 125);
        let frame = reference::frame(true, 0, opcode as u8, key, &vec![0; length]);
        let rules = Rules { masking: Masking::Either, ..Rules::default() };
        let (mut read, mut reads) = (0, 0);
        loop {
            let missing = Header::missing(&frame[..read], &rules).unwrap() as usize;
            if missing == 0 { break }
            read += missing;
            reads += 1;
        }
        prop_assert_eq!(read, frame.len());
        prop_assert!(reads <= 3, "{} reads", reads);
    }
}

const KEY: Option<[u8; 4]> = Some([1, 2, 3, 4]);

#[test]
fn a_frame_is_whole_or_not_there_yet() {
    let bytes = reference::frame(true, 0, 2, KEY, &[7; 300]);
    for end in 0..bytes.len() {
        assert_eq!(Frame::parse(&bytes[..end], &Rules::default()), Ok(None), "{end}");
    }
    let more = [&bytes[..], b"more"].concat();
    let frame = Frame::parse(&more, &Rules::default()).unwrap().unwrap();
    assert_eq!((frame.size(), frame.payload::<Vec<u8>>().unwrap()), (bytes.len(), vec![7; 300]));
}

#[test]
fn a_violation_is_found_though_the_frame_is_not_complete() {
    let bytes = reference::frame(true, 0, 2, None, &[7; 300]);
    let error = ProtocolError { kind: Violation::NotMasked, offset: 1 };
    assert_eq!(Frame::parse(&bytes[..2], &Rules::default()), Err(error));
}

#[test]
fn frames_of_a_stream_have_to_follow_from_each_other() {
    let rules = Rules { max_message_size: 8, ..Rules::default() };
    let next = |state, opcode, payload: &[u8]| {
        let bytes = reference::frame(false, 0, opcode, KEY, payload);
        match Frame::parse_next(&bytes, &rules, state) {
            Ok(frame) => Ok(state.after(&frame.unwrap().header)),
            Err(error) => Err(error.kind),
        }
    };
    let begun = next(MessageState::Between, 1, b"12345").unwrap();
    assert_eq!(begun, MessageState::Unfinished { size: 5 });
    assert_eq!(next(begun, 0, b"678"), Ok(MessageState::Unfinished { size: 8 }));
    assert_eq!(next(begun, 0, b"6789"), Err(Violation::MessageTooBig { size: 9, limit: 8 }));
    assert_eq!(next(begun, 1, b""), Err(Violation::UnfinishedMessage));
    assert_eq!(next(MessageState::Between, 0, b""), Err(Violation::UnexpectedContinuation));
    assert_eq!(next(MessageState::Unknown, 0, b""), Ok(MessageState::Unknown));
}

#[test]
fn what_is_sent_is_held_to_the_rules_of_the_receiver() {
    let header = |opcode, fin, length| Header { fin, reserved: 0, opcode, key: None, length };
    let check = |opcode, fin, plain: &[u8]| {
        let header = header(opcode, fin, plain.len() as u64);
        header.check().and_then(|()| check_payload(&header, plain)).err().map(|error| error.kind)
    };
    assert_eq!(check(Opcode::Text, true, "grüß".as_bytes()), None);
    assert_eq!(check(Opcode::Text, true, b"\xff"), Some(Violation::InvalidUtf8));
    assert_eq!(check(Opcode::Text, false, b"\xc3"), None, "the rest may follow");
    assert_eq!(check(Opcode::Binary, true, b"\xff"), None);
    assert_eq!(check(Opcode::Close, true, b""), None);
    assert_eq!(check(Opcode::Close, true, b"\x03\xe8bye"), None);
    assert_eq!(check(Opcode::Close, true, b"\x03"), Some(Violation::CloseFrameOfOneByte));
    assert_eq!(check(Opcode::Close, true, b"\x03\xee"), Some(Violation::CloseCode(1006)));
    assert_eq!(check(Opcode::Close, true, b"\x03\xe8\xff"), Some(Violation::InvalidUtf8));
    assert_eq!(check(Opcode::Ping, true, &[0; 126]), Some(Violation::LongControlFrame(9)));
    assert_eq!(check(Opcode::Ping, false, b""), Some(Violation::FragmentedControlFrame(9)));
}
