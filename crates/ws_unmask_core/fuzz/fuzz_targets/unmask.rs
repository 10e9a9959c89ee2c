//! Every path at every level against the reference XOR, with guard bytes around the payload.

#![no_main]

#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use ws_unmask_core::unmask::{simd, word};
use ws_unmask_core::{SimdLevel, unmask, unmask_into};

#[derive(arbitrary::Arbitrary, Debug)]
struct Input {
    before: u8,
    key: [u8; 4],
    offset: usize,
    payload: Vec<u8>,
}

const AFTER: usize = 64;
const GUARD: u8 = 0xa5;

fuzz_target!(|input: Input| {
    let Input { before, key, offset, payload } = input;
    let before = usize::from(before);
    let expected = reference::unmask(&payload, key, offset);

    let check = |name: &str, path: &dyn Fn(&mut [u8])| {
        let mut buffer = vec![GUARD; before + payload.len() + AFTER];
        let range = before..before + payload.len();
        buffer[range.clone()].copy_from_slice(&payload);
        path(&mut buffer[range.clone()]);
        assert_eq!(buffer[range.clone()], expected, "{name}");
        assert!(buffer[..range.start].iter().all(|&byte| byte == GUARD), "{name}: before");
        assert!(buffer[range.end..].iter().all(|&byte| byte == GUARD), "{name}: after");
    };
    check("unmask", &|bytes| unmask(bytes, key, offset));
    check("word", &|bytes| word::unmask(bytes, key, offset));
    check("unmask_into", &|bytes| unmask_into(bytes, &payload, key, offset));
    for level in SimdLevel::available() {
        check(level.name(), &|bytes| simd::unmask_at(level, bytes, key, offset));
        check(level.name(), &|bytes| simd::unmask_into_at(level, bytes, &payload, key, offset));
    }
});
