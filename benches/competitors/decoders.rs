//! Our decoder against the fastest ones in Rust: whole frames of text, in reads of 4 KiB (or of one
//! frame, if it is longer). Every decoder gets a read as a copy into its buffer, as from a socket.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/texts.rs"]
mod texts;

use bytes::BytesMut;
use core::hint::black_box;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nexus_web::ws::FrameReader;
use sockudo_ws::Role;
use sockudo_ws::protocol::Protocol;
use texts::{TEXT_SIZES, TEXTS, decode, frame, text};
use ws_unmask_core::{Decoder, Rules};

const READ: usize = 4 << 10;
const LIMIT: usize = 16 << 20;

fn decoders(criterion: &mut Criterion) {
    for (name, unit) in TEXTS {
        let mut group = criterion.benchmark_group(format!("decoders {name}"));
        for size in TEXT_SIZES {
            let frame = frame(&text(unit, size));
            let frames = (READ / frame.len()).max(1);
            let read = frame.repeat(frames);
            group.throughput(Throughput::Bytes((size * frames) as u64));
            group.bench_function(BenchmarkId::new("ws_unmask", size), |bencher| {
                let mut decoder = Decoder::new(Rules::default());
                let mut buffer = vec![0; read.len()];
                bencher.iter(|| {
                    buffer.copy_from_slice(black_box(&read));
                    assert_eq!(decode(&mut decoder, black_box(&buffer)), frames);
                });
            });
            group.bench_function(BenchmarkId::new("nexus-web", size), |bencher| {
                let mut reader = FrameReader::builder().buffer_capacity(2 << 20).build();
                bencher.iter(|| {
                    reader.read(black_box(&read)).expect("there is room");
                    let mut texts = 0;
                    while let Some(message) = reader.next().expect("it is in order") {
                        assert!(matches!(message, nexus_web::ws::Message::Text(_)));
                        texts += 1;
                    }
                    assert_eq!(texts, frames);
                });
            });
            group.bench_function(BenchmarkId::new("sockudo-ws", size), |bencher| {
                let mut protocol = Protocol::new(Role::Server, LIMIT, LIMIT);
                let (mut buffer, mut messages) = (BytesMut::new(), Vec::new());
                bencher.iter(|| {
                    buffer.extend_from_slice(black_box(&read));
                    protocol.process_into(&mut buffer, &mut messages).expect("it is in order");
                    assert_eq!(messages.len(), frames);
                });
            });
        }
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = decoders }
criterion_main!(benches);
