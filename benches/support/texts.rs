//! Texts as people send them, in frames, and what the decoder does with them.

use super::support::KEY;
use std::cell::RefCell;
use std::collections::TryReserveError;
use std::mem::MaybeUninit;
use ws_unmask_core::{Content, DecodeError, Decoder, MaskedPayload, Message, Payload, unmask};

/// What people send, and the borders of the size classes.
pub const TEXT_SIZES: [usize; 18] = [
    5,
    15,
    32,
    61,
    64,
    125,
    126,
    128,
    129,
    200,
    300,
    500,
    1000,
    1280,
    4 << 10,
    16 << 10,
    64 << 10,
    1 << 20,
];

/// Repeated until they are long enough. In all but the first one, about half is not ASCII, and in
/// the last one little.
pub const TEXTS: [(&str, &str); 5] = [
    ("ascii", r#"{"command":"message","identifier":"{\"channel\":\"Chat\"}"}"#),
    ("chinese", "chat: 你好世界 "),
    ("cyrillic", "привет, как дела? "),
    ("emoji", "lol 😀🎉 ok 👍 "),
    (
        "mixed json",
        r#"{"user":"Zoë","text":"Grüße aus Köln – bis später! 日本","n":12345,"tags":["a","b"]}"#,
    ),
];

/// `size` bytes of `unit` again and again, at the end filled up with spaces.
pub fn text(unit: &str, size: usize) -> String {
    let mut text = unit.repeat(size / unit.len() + 1);
    while text.len() > size {
        text.pop();
    }
    let missing = size - text.len();
    text + &" ".repeat(missing)
}

pub fn frame(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match text.len() {
        len @ 0..126 => frame.push(0x80 | len as u8),
        len @ 126..0x1_0000 => {
            frame.push(0xfe);
            frame.extend((len as u16).to_be_bytes());
        }
        len => {
            frame.push(0xff);
            frame.extend((len as u64).to_be_bytes());
        }
    }
    frame.extend(KEY);
    let start = frame.len();
    frame.extend(text.as_bytes());
    unmask(&mut frame[start..], KEY, 0);
    frame
}

/// A payload that is written to memory that is there already, as Ruby's allocator has it at hand.
pub struct Written(#[allow(dead_code, reason = "it is there to be made")] Content);

const NOTHING: MaybeUninit<u8> = MaybeUninit::uninit();

thread_local! {
    static MEMORY: RefCell<[MaybeUninit<u8>; 1 << 20]> =
        const { RefCell::new([NOTHING; 1 << 20]) };
}

/// It never happens.
#[derive(Debug)]
pub struct Refused;

impl From<TryReserveError> for Refused {
    fn from(_: TryReserveError) -> Self {
        Self
    }
}

impl Payload for Written {
    type Error = Refused;

    fn unmask(masked: MaskedPayload<'_>) -> Result<Self, DecodeError<Refused>> {
        MEMORY.with_borrow_mut(|memory| {
            let len = masked.len();
            Ok(Self(masked.unmask_into(&mut memory[..len])?))
        })
    }

    fn assembled(_: Vec<u8>, content: Content) -> Result<Self, Refused> {
        Ok(Self(content))
    }
}

/// How many texts are in `input`.
pub fn decode(decoder: &mut Decoder, mut input: &[u8]) -> usize {
    let mut texts = 0;
    while let Some(message) = decoder.next::<Written>(&mut input).expect("it is in order") {
        assert!(matches!(message, Message::Text { .. }));
        texts += 1;
    }
    texts
}
