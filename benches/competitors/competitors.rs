//! Ours against the Rust libraries that unmask, on the same buffers, built for the same CPU.

mod restated;
#[path = "../support/mod.rs"]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::{Ring, SIZES, in_place};
use ws_unmask_core::unmask;

fn competitors(criterion: &mut Criterion) {
    type MakeRing = fn(usize) -> Ring;
    let places: [(&str, MakeRing); 3] = [
        ("competitors at 0", |len| Ring::new(len, 0)),
        ("competitors at 6", |len| Ring::new(len, 6)),
        ("competitors at 0 to 15", Ring::of_all_alignments),
    ];
    for (name, ring) in places {
        let mut group = criterion.benchmark_group(name);
        for len in SIZES {
            in_place(&mut group, "ws_unmask", ring(len), |payload, key| unmask(payload, key, 0));
            in_place(&mut group, "fastwebsockets", ring(len), fastwebsockets::unmask);
            in_place(&mut group, "tungstenite", ring(len), restated::tungstenite);
            in_place(&mut group, "tokio-websockets", ring(len), restated::tokio_websockets);
        }
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = competitors }
criterion_main!(benches);
