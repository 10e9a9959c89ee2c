//! How every bench here measures.
//!
//! A loop over one small buffer measures store-to-load forwarding: the overlapping stores of one
//! round stall the loads of the next. So small payloads walk a ring of buffers that fits in L1, and
//! only large ones stay in one buffer.

#![allow(dead_code, reason = "each bench uses its own part")]

use core::hint::black_box;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use std::time::Duration;

pub const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// What people send (60–500 B of JSON, 1,280 B and 4 KiB of audio, documents) and the borders of
/// the size classes.
pub const SIZES: [usize; 17] = [
    1,
    5,
    15,
    32,
    61,
    125,
    126,
    129,
    300,
    500,
    1000,
    1280,
    4 << 10,
    16 << 10,
    64 << 10,
    1 << 20,
    16 << 20,
];

const RING_BYTES: usize = 16 << 10;
const LINE: usize = 64;
const CALLS_AT_A_PLACE: usize = 64;

/// Short, so that the whole of `cargo bench` ends within five minutes.
pub fn criterion() -> Criterion {
    Criterion::default()
        .without_plots()
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(100))
        .configure_from_args()
}

/// Buffers of one size, each beginning `alignment` bytes behind a cache line.
pub struct Ring {
    memory: Vec<u8>,
    first: usize,
    stride: usize,
    buffers: usize,
    next: usize,
    len: usize,
    /// Added to the place of each buffer in turn, to go through all alignments.
    spread: usize,
}

impl Ring {
    pub fn new(len: usize, alignment: usize) -> Self {
        Self::with_spread(len, alignment, 0)
    }

    /// Alignments 0 to 15, one after the other.
    pub fn of_all_alignments(len: usize) -> Self {
        Self::with_spread(len, 0, 1)
    }

    fn with_spread(len: usize, alignment: usize, spread: usize) -> Self {
        let stride = (len + 2 * LINE).next_multiple_of(LINE);
        let (buffers, stride) = match spread {
            0 => ((RING_BYTES / stride).clamp(1, 64), stride),
            _ if 16 * stride <= 2 * RING_BYTES => (16, stride),
            // Sixteen places in one large buffer, each of them for a while: right after the place
            // before it, a load would wait for a store that lies one byte off.
            _ => (16 * CALLS_AT_A_PLACE, 0),
        };
        let memory = vec![b'x'; buffers * stride + len + 3 * LINE];
        let first = memory.as_ptr().align_offset(LINE) + alignment;
        Self { memory, first, stride, buffers, next: 0, len, spread }
    }

    /// The next buffer. Its length is hidden from the compiler, as a socket would hide it.
    #[inline(always)]
    pub fn next(&mut self) -> &mut [u8] {
        let turn = if self.stride == 0 { self.next / CALLS_AT_A_PLACE } else { self.next };
        let at = self.first + self.next * self.stride + (turn % 16) * self.spread;
        self.next += 1;
        if self.next == self.buffers {
            self.next = 0;
        }
        &mut self.memory[at..][..black_box(self.len)]
    }
}

pub fn in_place(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut ring: Ring,
    mut unmask: impl FnMut(&mut [u8], [u8; 4]),
) {
    group.throughput(Throughput::Bytes(ring.len as u64));
    group.bench_function(BenchmarkId::new(name, ring.len), |bencher| {
        bencher.iter(|| {
            let payload = ring.next();
            unmask(payload, black_box(KEY));
            black_box(payload.as_mut_ptr());
        });
    });
}

/// From a payload to a place that lies as a new allocation does: at the start of a line.
pub fn into(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut source: Ring,
    mut unmask: impl FnMut(&mut [u8], &[u8], [u8; 4]),
) {
    let mut result = Ring::new(source.len, 0);
    group.throughput(Throughput::Bytes(source.len as u64));
    group.bench_function(BenchmarkId::new(name, source.len), |bencher| {
        bencher.iter(|| {
            let dst = result.next();
            unmask(dst, source.next(), black_box(KEY));
            black_box(dst.as_mut_ptr());
        });
    });
}
