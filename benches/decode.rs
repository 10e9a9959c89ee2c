//! A whole frame, from its bytes to a checked message, and what the ASCII proof gains: the same
//! text unmasked first and looked at afterwards.

mod support;

use core::hint::black_box;
use core::mem::MaybeUninit;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use support::KEY;
use ws_unmask_core::{
    Content, DecodeError, Decoder, Frame, MaskedPayload, Message, Payload, Rules, unmask,
};

const SIZES: [usize; 4] = [61, 500, 4 << 10, 64 << 10];

/// A payload that is written to a place that is there already, as Ruby's allocator has it at hand.
struct Written(#[allow(dead_code, reason = "it is there to be made")] Content);

const NOTHING: MaybeUninit<u8> = MaybeUninit::uninit();

thread_local! {
    static PLACE: std::cell::RefCell<Vec<MaybeUninit<u8>>> =
        std::cell::RefCell::new(vec![NOTHING; 64 << 10]);
}

impl From<std::collections::TryReserveError> for Refused {
    fn from(_: std::collections::TryReserveError) -> Self {
        Self
    }
}

/// It never happens.
#[derive(Debug)]
struct Refused;

impl Payload for Written {
    type Error = Refused;

    fn unmask(masked: MaskedPayload<'_>) -> Result<Self, DecodeError<Refused>> {
        PLACE.with_borrow_mut(|place| {
            let len = masked.len();
            Ok(Self(masked.unmask_into(&mut place[..len])?))
        })
    }

    fn assembled(_: Vec<u8>, content: Content) -> Result<Self, Refused> {
        Ok(Self(content))
    }
}

fn json(size: usize) -> String {
    r#"{"command":"message","identifier":"{\"channel\":\"Chat\"}"}"#.repeat(size / 40 + 1)[..size]
        .into()
}

fn half_chinese(size: usize) -> String {
    let mut text = "chat: 你好世界 ".repeat(size / 12);
    while text.len() > size {
        text.pop();
    }
    text
}

fn frame(text: &str) -> Vec<u8> {
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

/// What decoders do that know nothing while they unmask: copy, unmask, then look at all of it, for
/// UTF-8 and once more for the code range.
fn three_passes(frame: &[u8], place: &mut Vec<u8>) -> bool {
    let Ok(Some(parsed)) = Frame::parse(frame, &Rules::default()) else { return false };
    place.clear();
    place.extend_from_slice(&frame[parsed.header.size()..]);
    unmask(place, parsed.header.key.unwrap_or_default(), 0);
    simdutf8::basic::from_utf8(place).is_ok() && place.is_ascii()
}

fn texts(criterion: &mut Criterion) {
    for (name, text) in [("json", json as fn(usize) -> String), ("half chinese", half_chinese)] {
        let mut group = criterion.benchmark_group(name);
        for size in SIZES {
            let frame = frame(&text(size));
            group.throughput(Throughput::Bytes(size as u64));
            group.bench_function(BenchmarkId::new("decoder", size), |bencher| {
                let mut decoder = Decoder::new(Rules::default());
                bencher.iter(|| {
                    let message = decoder.next::<Written>(&mut black_box(&frame[..]));
                    assert!(matches!(message, Ok(Some(Message::Text { .. }))));
                });
            });
            group.bench_function(BenchmarkId::new("unmask, then look", size), |bencher| {
                let mut place = Vec::new();
                bencher.iter(|| black_box(three_passes(black_box(&frame), &mut place)));
            });
        }
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = texts }
criterion_main!(benches);
