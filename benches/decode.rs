//! Whole frames of text, from their bytes to checked messages, and what it gains to check them in
//! the pass that unmasks: the same text unmasked first and looked at afterwards.

mod support;
#[path = "support/texts.rs"]
mod texts;

use core::hint::black_box;
use core::mem::MaybeUninit;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use support::KEY;
use texts::{TEXT_SIZES, TEXTS, decode, frame, text};
use ws_unmask_core::unmask::simd;
use ws_unmask_core::{Decoder, Frame, Rules, SimdLevel, unmask_into};

/// What decoders do that know nothing while they unmask: copy and unmask, then look at all of it,
/// for UTF-8 and once more for the code range.
fn three_passes(frame: &[u8], plain: &mut [u8]) -> bool {
    let Ok(Some(parsed)) = Frame::parse(frame, &Rules::default()) else { return false };
    let masked = &frame[parsed.header.size()..];
    let plain = &mut plain[..masked.len()];
    unmask_into(plain, masked, parsed.header.key.unwrap_or_default(), 0);
    simdutf8::basic::from_utf8(plain).is_ok() && plain.is_ascii()
}

fn decoding(criterion: &mut Criterion) {
    for (name, unit) in TEXTS {
        let mut group = criterion.benchmark_group(format!("decode {name}"));
        for size in TEXT_SIZES {
            let frame = frame(&text(unit, size));
            group.throughput(Throughput::Bytes(size as u64));
            group.bench_function(BenchmarkId::new("decoder", size), |bencher| {
                let mut decoder = Decoder::new(Rules::default());
                bencher.iter(|| decode(&mut decoder, black_box(&frame)));
            });
            group.bench_function(BenchmarkId::new("unmask, then look", size), |bencher| {
                let mut plain = vec![0; size];
                bencher.iter(|| three_passes(black_box(&frame), black_box(&mut plain)));
            });
        }
    }
}

fn levels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chinese by level");
    for size in TEXT_SIZES {
        group.throughput(Throughput::Bytes(size as u64));
        let frame = frame(&text(TEXTS[1].1, size));
        let masked = &frame[frame.len() - size..];
        for level in SimdLevel::available() {
            group.bench_function(BenchmarkId::new(level.name(), size), |bencher| {
                let mut plain = vec![MaybeUninit::uninit(); size];
                bencher.iter(|| {
                    let masked = black_box(masked);
                    simd::unmask_text_into_at(level, black_box(&mut plain), masked, KEY, 0)
                });
            });
        }
        group.bench_function(BenchmarkId::new("unmask, then simdutf8", size), |bencher| {
            let mut plain = vec![0; size];
            bencher.iter(|| {
                unmask_into(black_box(&mut plain), black_box(masked), KEY, 0);
                simdutf8::basic::from_utf8(&plain).is_ok()
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = decoding, levels
}
criterion_main!(benches);
