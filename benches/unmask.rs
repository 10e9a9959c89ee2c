//! The paths of the core against each other and against a plain copy of the same bytes.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::{Ring, SIZES, in_place, into};
use ws_unmask_core::unmask::{scalar, simd, word};
use ws_unmask_core::{SimdLevel, unmask, unmask_into};

/// At the start of a cache line, and where the payload of a short frame lies in what was read.
const ALIGNMENTS: [usize; 2] = [0, 6];

fn paths(criterion: &mut Criterion) {
    for alignment in ALIGNMENTS {
        let mut group = criterion.benchmark_group(format!("paths at {alignment}"));
        for len in SIZES {
            let ring = || Ring::new(len, alignment);
            into(&mut group, "memcpy", ring(), |dst, src, _| dst.copy_from_slice(src));
            in_place(&mut group, "unmask", ring(), |payload, key| unmask(payload, key, 0));
            into(&mut group, "unmask_into", ring(), |dst, src, key| unmask_into(dst, src, key, 0));
            in_place(&mut group, "word", ring(), |payload, key| word::unmask(payload, key, 0));
            in_place(&mut group, "scalar", ring(), |payload, key| scalar::unmask(payload, key, 0));
        }
    }
}

/// Every level of this machine, the fallback too.
fn levels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("levels at 6");
    for len in SIZES.into_iter().filter(|&len| len > 128 && len <= 64 << 10) {
        for level in SimdLevel::available() {
            in_place(&mut group, level.name(), Ring::new(len, 6), |payload, key| {
                simd::unmask_at(level, payload, key, 0);
            });
        }
    }
}

/// Every length of a small frame.
fn short(criterion: &mut Criterion) {
    for alignment in ALIGNMENTS {
        let mut group = criterion.benchmark_group(format!("short at {alignment}"));
        for len in 1..=130 {
            let ring = || Ring::new(len, alignment);
            into(&mut group, "memcpy", ring(), |dst, src, _| dst.copy_from_slice(src));
            in_place(&mut group, "unmask", ring(), |payload, key| unmask(payload, key, 0));
        }
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = paths, levels, short }
criterion_main!(benches);
