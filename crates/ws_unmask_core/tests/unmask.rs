//! Every path, at every level this machine has, against the reference XOR.

mod reference;

use core::mem::MaybeUninit;
use proptest::prelude::*;
use ws_unmask_core::unmask::{scalar, simd, word};
use ws_unmask_core::{SimdLevel, unmask, unmask_into, unmask_into_uninit};

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const GUARD: usize = 64;

/// In place, or into another slice: both are handed the masked payload and leave the plain one.
type InPlace = Box<dyn Fn(&mut [u8], [u8; 4], usize)>;
type Into = Box<dyn Fn(&mut [u8], &[u8], [u8; 4], usize)>;

fn in_place_paths() -> Vec<(String, InPlace)> {
    let mut paths: Vec<(String, InPlace)> = vec![
        ("scalar".into(), Box::new(scalar::unmask)),
        ("word".into(), Box::new(word::unmask)),
        ("simd".into(), Box::new(simd::unmask)),
        ("unmask".into(), Box::new(unmask)),
    ];
    for level in SimdLevel::available() {
        paths.push((
            level.to_string(),
            Box::new(move |payload, key, offset| simd::unmask_at(level, payload, key, offset)),
        ));
    }
    paths
}

fn into_paths() -> Vec<(String, Into)> {
    let mut paths: Vec<(String, Into)> = vec![("unmask_into".into(), Box::new(unmask_into))];
    for level in SimdLevel::available() {
        paths.push((
            format!("into at {level}"),
            Box::new(move |dst, src, key, offset| {
                simd::unmask_into_at(level, dst, src, key, offset);
            }),
        ));
    }
    paths
}

/// A buffer whose byte `GUARD + alignment` has an address of that alignment (modulo 64), and the
/// range of the `len` bytes there.
fn placed(len: usize, alignment: usize) -> (Vec<u8>, core::ops::Range<usize>) {
    let buffer = vec![0xa5; len + 3 * GUARD + 64];
    let start = GUARD + buffer[GUARD..].as_ptr().align_offset(64) + alignment;
    (buffer, start..start + len)
}

fn check_in_place(payload: &[u8], alignment: usize, key: [u8; 4], offset: usize) {
    let expected = reference::unmask(payload, key, offset);
    for (name, path) in in_place_paths() {
        let (mut buffer, range) = placed(payload.len(), alignment);
        buffer[range.clone()].copy_from_slice(payload);
        path(&mut buffer[range.clone()], key, offset);
        let context = || format!("{name}: {} bytes at {alignment}, {offset}", payload.len());
        assert_eq!(buffer[range.clone()], expected, "{}", context());
        let outside = buffer[..range.start].iter().chain(&buffer[range.end..]);
        assert!(outside.copied().all(|byte| byte == 0xa5), "wrote outside: {}", context());
    }
}

fn check_into(payload: &[u8], alignments: (usize, usize), key: [u8; 4], offset: usize) {
    let expected = reference::unmask(payload, key, offset);
    let (mut source, from) = placed(payload.len(), alignments.0);
    source[from.clone()].copy_from_slice(payload);
    for (name, path) in into_paths() {
        let (mut buffer, range) = placed(payload.len(), alignments.1);
        path(&mut buffer[range.clone()], &source[from.clone()], key, offset);
        assert_eq!(buffer[range.clone()], expected, "{name}: {} bytes", payload.len());
        let outside = buffer[..range.start].iter().chain(&buffer[range.end..]);
        assert!(outside.copied().all(|byte| byte == 0xa5), "{name} wrote outside");
    }
    assert_eq!(source[from], *payload, "the source was changed");
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 151 % 256) as u8).collect()
}

fn key_offset() -> impl Strategy<Value = ([u8; 4], usize)> {
    (any::<[u8; 4]>(), prop_oneof![0..64usize, any::<usize>()])
}

#[test]
fn all_lengths_to_600_at_every_offset_of_the_key() {
    for len in 0..=600 {
        for offset in 0..4 {
            check_in_place(&bytes(len), len % 64, KEY, offset);
            check_into(&bytes(len), (6, len % 64), KEY, offset);
        }
    }
}

#[test]
fn every_alignment() {
    for alignment in 0..64 {
        for len in [5, 31, 125, 300, 1_000, 1_280] {
            check_in_place(&bytes(len), alignment, KEY, 0);
            check_into(&bytes(len), (alignment, 63 - alignment), KEY, 0);
        }
    }
}

#[test]
fn large_payloads() {
    for len in [16 << 10, (64 << 10) + 1, (1 << 20) + 13] {
        check_in_place(&bytes(len), 6, KEY, 3);
        check_into(&bytes(len), (6, 0), KEY, 3);
    }
}

#[test]
fn the_largest_offsets_wrap_as_the_key_does() {
    for offset in [1 << 62, usize::MAX - 3, usize::MAX] {
        check_in_place(&bytes(1_000), 0, KEY, offset);
    }
}

proptest! {
    #[test]
    fn in_place_equals_the_reference(
        payload in prop::collection::vec(any::<u8>(), 0..4096),
        alignment in 0..64usize,
        (key, offset) in key_offset(),
    ) {
        check_in_place(&payload, alignment, key, offset);
    }

    #[test]
    fn into_equals_the_reference(
        payload in prop::collection::vec(any::<u8>(), 0..4096),
        alignments in (0..64usize, 0..64usize),
        (key, offset) in key_offset(),
    ) {
        check_into(&payload, alignments, key, offset);
    }

    #[test]
    fn pieces_make_the_whole(
        payload in prop::collection::vec(any::<u8>(), 0..2048),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        (key, offset) in key_offset(),
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(payload.len() + 1)).collect();
        cuts.extend([0, payload.len()]);
        cuts.sort_unstable();
        for (name, path) in in_place_paths() {
            let mut pieces = payload.clone();
            for cut in cuts.windows(2) {
                path(&mut pieces[cut[0]..cut[1]], key, offset.wrapping_add(cut[0]));
            }
            prop_assert_eq!(&pieces, &reference::unmask(&payload, key, offset), "{}", name);
        }
    }

    #[test]
    fn twice_is_the_identity(
        payload in prop::collection::vec(any::<u8>(), 0..2048),
        (key, offset) in key_offset(),
    ) {
        for (name, path) in in_place_paths() {
            let mut twice = payload.clone();
            path(&mut twice, key, offset);
            path(&mut twice, key, offset);
            prop_assert_eq!(&twice, &payload, "{}", name);
        }
    }

    #[test]
    fn into_uninit_fills_everything_and_knows_ascii(
        mut plain in prop::collection::vec(0..0x80u8, 0..1024),
        top_bit in any::<Option<prop::sample::Index>>(),
        (key, offset) in key_offset(),
    ) {
        if let Some(index) = top_bit && !plain.is_empty() {
            let index = index.index(plain.len());
            plain[index] |= 0x80;
        }
        let masked = reference::unmask(&plain, key, offset);
        let mut dst = vec![MaybeUninit::new(0xa5); plain.len()];
        let ascii = unmask_into_uninit(&mut dst, &masked, key, offset);
        prop_assert_eq!(ascii, plain.is_ascii());
        // SAFETY: every byte was initialised when `dst` was made.
        prop_assert_eq!(unsafe { dst.assume_init_ref() }, &plain);
    }
}

/// A single byte outside of ASCII is seen wherever it is, in every size class.
#[test]
fn ascii_is_denied_for_one_byte_anywhere() {
    for len in [1, 2, 3, 7, 15, 33, 64, 125, 129, 256, 257, 700] {
        for place in 0..len {
            let mut plain = vec![b'x'; len];
            plain[place] = 0xc3;
            let masked = reference::unmask(&plain, KEY, 1);
            let mut dst = vec![MaybeUninit::uninit(); len];
            assert!(!unmask_into_uninit(&mut dst, &masked, KEY, 1), "{place} of {len}");
        }
    }
}

#[test]
#[should_panic(expected = "dst has 3 bytes and src 4: they must have the same length")]
fn into_refuses_another_length() {
    unmask_into(&mut [0; 3], &[0; 4], KEY, 0);
}

/// A CPU that has one of them has those behind it too.
#[test]
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn no_level_of_x86_is_left_out() {
    let levels: Vec<_> = SimdLevel::available().map(SimdLevel::name).collect();
    assert!(["avx512", "avx2", "sse4_2", "sse2", "fallback"].ends_with(&levels), "{levels:?}");
}

#[test]
fn the_fallback_is_always_there_and_the_best_level_comes_first() {
    let levels: Vec<_> = SimdLevel::available().collect();
    assert_eq!(levels.first(), Some(&SimdLevel::best()));
    assert_eq!(levels.last().map(|level| level.name()), Some("fallback"));
}
