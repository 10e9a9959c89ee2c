//! Compressed messages: to inflate, unmask and check them, and to compress them, against zlib-rs
//! alone, which does the work in this crate, and against miniz_oxide.
//!
//! The messages differ, as those of a chat do: one message again and again is little but a
//! reference to the one before it.

mod support;

use core::hint::black_box;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use miniz_oxide::deflate::core::{CompressorOxide, create_comp_flags_from_zip_params};
use miniz_oxide::inflate::stream::InflateState;
use miniz_oxide::{DataFormat, MZFlush};
use support::KEY;
use ws_unmask_core::deflate::{Deflater, Inflater};
use ws_unmask_core::frame::Opcode;
use ws_unmask_core::{Decoder, Encoder, Message, Rules};
use zlib_rs::{DeflateFlush, InflateFlush};

const SIZES: [usize; 4] = [125, 1 << 10, 16 << 10, 1 << 20];
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

const WORDS: [&str; 32] = [
    "the", "of", "and", "to", "in", "is", "you", "that", "it", "was", "for", "on", "are", "with",
    "they", "at", "be", "this", "have", "from", "one", "had", "by", "what", "all", "were", "when",
    "your", "can", "said", "there", "each",
];

/// Messages of `size` bytes, enough of them that no window holds them all.
fn messages(size: usize) -> Vec<Vec<u8>> {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) % below
    };
    let message = |_: usize| {
        let mut text = String::new();
        while text.len() < size {
            let (id, user, minute) = (random(10_000_000), random(500), random(60));
            text += &format!(r#"{{"id":{id},"user":"user{user}","at":"12:{minute:02}","text":""#);
            for _ in 0..4 + random(12) {
                text += WORDS[random(32) as usize];
                text += " ";
            }
            text += "\"}";
        }
        text.truncate(size);
        text.into_bytes()
    };
    let count = ((1 << 20) / size.max(4 << 10)).max(2);
    (0..count).map(message).collect()
}

fn inflate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("inflate");
    for size in SIZES {
        let messages = messages(size);
        let (mut stream, mut payloads) = (Vec::new(), Vec::new());
        let mut encoder = Encoder::with_deflater(Deflater::new(15, false), 0);
        let mut deflater = Deflater::new(15, false);
        for message in &messages {
            encoder.encode(Opcode::Text, message, Some(KEY), &mut stream).unwrap();
            let mut payload = Vec::new();
            deflater.deflate(message, &mut payload).unwrap();
            payload.extend(TAIL);
            payloads.push(payload);
        }
        let mut plain = vec![0; size + 1];
        group.throughput(Throughput::Elements(messages.len() as u64));
        group.bench_function(BenchmarkId::new("decoder", size), |bencher| {
            bencher.iter(|| {
                let mut decoder = Decoder::with_inflater(Rules::default(), Inflater::default());
                let mut input = &stream[..];
                while let Ok(Some(message)) = decoder.next::<Vec<u8>>(&mut input) {
                    assert!(
                        matches!(message, Message::Text { payload, .. } if payload.len() == size)
                    );
                }
            });
        });
        group.bench_function(BenchmarkId::new("zlib-rs", size), |bencher| {
            bencher.iter(|| {
                let mut stream = zlib_rs::Inflate::new(false, 15);
                for payload in &payloads {
                    stream.decompress(payload, &mut plain, InflateFlush::NoFlush).unwrap();
                }
                assert_eq!(stream.total_out(), (size * payloads.len()) as u64);
            });
        });
        group.bench_function(BenchmarkId::new("miniz_oxide", size), |bencher| {
            bencher.iter(|| {
                let mut stream = InflateState::new_boxed(DataFormat::Raw);
                for payload in &payloads {
                    let (mut used, mut made) = (0, 0);
                    while used < payload.len() {
                        let result = miniz_oxide::inflate::stream::inflate(
                            &mut stream,
                            &payload[used..],
                            &mut plain[made..],
                            MZFlush::None,
                        );
                        used += result.bytes_consumed;
                        made += result.bytes_written;
                    }
                    black_box(&plain);
                }
            });
        });
    }
}

fn deflate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("deflate");
    for size in SIZES {
        let messages = messages(size);
        let mut output = vec![0; size + 1000];
        group.throughput(Throughput::Elements(messages.len() as u64));
        for level in [1, 6] {
            let id = |name: &str| BenchmarkId::new(format!("{name}, level {level}"), size);
            group.bench_function(id("encoder"), |bencher| {
                let mut output = Vec::new();
                bencher.iter(|| {
                    let deflater = Deflater::new(15, false).with_level(level);
                    let mut encoder = Encoder::with_deflater(deflater, 0);
                    for message in &messages {
                        output.clear();
                        encoder.encode(Opcode::Text, message, None, &mut output).unwrap();
                    }
                });
            });
            group.bench_function(id("zlib-rs"), |bencher| {
                bencher.iter(|| {
                    let mut stream = zlib_rs::Deflate::new(level.into(), false, 15);
                    for message in &messages {
                        stream.compress(message, &mut output, DeflateFlush::SyncFlush).unwrap();
                    }
                    assert_eq!(stream.total_in(), (size * messages.len()) as u64);
                });
            });
            group.bench_function(id("miniz_oxide"), |bencher| {
                let flags = create_comp_flags_from_zip_params(level.into(), -15, 0);
                bencher.iter(|| {
                    let mut stream = CompressorOxide::new(flags);
                    for message in &messages {
                        let result = miniz_oxide::deflate::stream::deflate(
                            &mut stream,
                            message,
                            &mut output,
                            MZFlush::Sync,
                        );
                        assert_eq!(result.bytes_consumed, size);
                    }
                });
            });
        }
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = inflate, deflate }
criterion_main!(benches);
