//! A header as it is written, against an independent encoder and against its own parser.

mod reference;

use proptest::prelude::*;
use ws_unmask_core::frame::{Header, Opcode, Rules};

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
        length in any::<u64>(),
        shift in 0..64u32,
    ) {
        let length = length >> shift >> 1;
        prop_assume!(!opcode.is_control() || length <= 125);
        let header = Header { fin: true, reserved, opcode, key, length };
        let (bytes, size) = header.encode();
        let rules = Rules { require_mask: false, allow_reserved: 7 };
        prop_assert_eq!(Header::parse(&bytes[..size], &rules), Ok(Some((header, size))));
    }
}
