//! Checks UTF-8 one vector at a time: the lookup algorithm of John Keiser and Daniel Lemire,
//! "Validating UTF-8 in less than one instruction per byte" (2020).
//!
//! What can be wrong with two bytes that follow each other is a set of bits, looked up three times:
//! by the two halves of the first byte and by the upper half of the second one. A bit that is set
//! all three times is an error. What is left, whether a third and a fourth byte are there, is known
//! from the bytes two and three before.

use fearless_simd::{prelude::*, u8x16};

/// Vectors of bytes, of any width.
pub(crate) trait ByteVector<S: Simd>:
    SimdInt<S, Element = u8, Block = u8x16<S>, ByteVector = Self>
{
}

impl<S: Simd, V: SimdInt<S, Element = u8, Block = u8x16<S>, ByteVector = V>> ByteVector<S> for V {}

/// A lead byte, and no continuation behind it.
const TOO_SHORT: u8 = 1 << 0;
/// ASCII, and a continuation behind it.
const TOO_LONG: u8 = 1 << 1;
/// `e0`, and less than `a0`: it fits two bytes.
const OVERLONG_3: u8 = 1 << 2;
/// `f4` and more than `8f`, or `f5` and up: over U+10FFFF.
const TOO_LARGE: u8 = 1 << 3;
/// `ed`, and more than `9f`: U+D800 to U+DFFF.
const SURROGATE: u8 = 1 << 4;
/// `c0` or `c1`: it fits one byte.
const OVERLONG_2: u8 = 1 << 5;
/// `f0` and less than `90`, which fits three bytes; or `f5` and up, and the same.
const OVERLONG_4: u8 = 1 << 6;
/// Two continuations: right if, and only if, a lead byte before them wants the second one.
const TWO_CONTINUATIONS: u8 = 1 << 7;

/// By the upper half of the first byte.
const FIRST_HIGH: [u8; 16] = {
    let mut table = [TOO_LONG; 16];
    [table[8], table[9], table[10], table[11]] = [TWO_CONTINUATIONS; 4];
    table[0xc] = TOO_SHORT | OVERLONG_2;
    table[0xd] = TOO_SHORT;
    table[0xe] = TOO_SHORT | OVERLONG_3 | SURROGATE;
    table[0xf] = TOO_SHORT | TOO_LARGE | OVERLONG_4;
    table
};

/// By the lower half of the first byte.
const FIRST_LOW: [u8; 16] = {
    const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;
    let mut table = [ANY | TOO_LARGE | OVERLONG_4; 16];
    table[0x0] = ANY | OVERLONG_2 | OVERLONG_3 | OVERLONG_4;
    table[0x1] = ANY | OVERLONG_2;
    [table[0x2], table[0x3]] = [ANY; 2];
    table[0x4] = ANY | TOO_LARGE;
    table[0xd] |= SURROGATE;
    table
};

/// By the upper half of the second byte.
const SECOND_HIGH: [u8; 16] = {
    const CONTINUATION: u8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;
    let mut table = [TOO_SHORT; 16];
    table[0x8] = CONTINUATION | OVERLONG_3 | OVERLONG_4;
    table[0x9] = CONTINUATION | OVERLONG_3 | TOO_LARGE;
    [table[0xa], table[0xb]] = [CONTINUATION | SURROGATE | TOO_LARGE; 2];
    table
};

/// By the upper half of the byte two before: whether it wants a third byte.
const WANTS_THIRD: [u8; 16] = {
    let mut table = [0; 16];
    [table[0xe], table[0xf]] = [TWO_CONTINUATIONS; 2];
    table
};

/// By the upper half of the byte three before: whether it wants a fourth byte.
const WANTS_FOURTH: [u8; 16] = {
    let mut table = [0; 16];
    table[0xf] = TWO_CONTINUATIONS;
    table
};

/// What a vector of text is reduced to, to be compared with the one behind it.
///
/// Where the vector is a register of 64 bytes, tables can have 64 entries, so that nothing needs to
/// be masked; and three operands an instruction. There it is best to look up the bytes before as
/// they are. Elsewhere the halves of each byte are looked up once, and shifted when they have been.
#[derive(Clone, Copy)]
pub(crate) struct Digest<V> {
    /// The bytes; elsewhere, their upper halves.
    bytes: V,
    /// Nothing; elsewhere, what can be wrong with a first byte.
    first: V,
}

#[inline(always)]
fn has_long_tables<S: Simd, V: ByteVector<S>>() -> bool {
    S::u8s::LEN == 64 && V::LEN == 64
}

impl<V> Digest<V> {
    #[inline(always)]
    pub(crate) fn new<S: Simd>(simd: S, plain: V) -> Self
    where
        V: ByteVector<S>,
    {
        if has_long_tables::<S, V>() {
            return Self { bytes: plain, first: plain };
        }
        let high = plain >> 4;
        let first = look_up(simd, FIRST_HIGH, high) & look_up(simd, FIRST_LOW, plain & 0x0f);
        Self { bytes: high, first }
    }

    /// Errors in this vector, which lies behind `before`: bits that are set.
    #[inline(always)]
    pub(crate) fn errors<S: Simd>(self, simd: S, before: Self) -> V
    where
        V: ByteVector<S>,
    {
        let blocks = blocks_before(before.bytes, self.bytes);
        let two_before = blocks.slide_within_blocks::<14>(self.bytes);
        let three_before = blocks.slide_within_blocks::<13>(self.bytes);
        if has_long_tables::<S, V>() {
            let one_before = blocks.slide_within_blocks::<15>(self.bytes);
            let wrong =
                look_up_six_bits(simd, &const { by_upper_bits(FIRST_HIGH) }, one_before >> 2)
                    & look_up_six_bits(simd, &const { by_lower_bits(FIRST_LOW) }, one_before)
                    & look_up_six_bits(
                        simd,
                        &const { by_upper_bits(SECOND_HIGH) },
                        self.bytes >> 2,
                    );
            // The top bit stays if the byte is e0 or more, or f0 or more.
            let wants =
                two_before.saturating_sub(0xe0 - 0x80) | three_before.saturating_sub(0xf0 - 0x80);
            return wrong ^ (wants & TWO_CONTINUATIONS);
        }
        let first = blocks_before(before.first, self.first).slide_within_blocks::<15>(self.first);
        let wrong = first & look_up(simd, SECOND_HIGH, self.bytes);
        let wants =
            look_up(simd, WANTS_THIRD, two_before) | look_up(simd, WANTS_FOURTH, three_before);
        wrong ^ wants
    }
}

impl<V> Digest<V> {
    /// Not zero if the vector ends in a code point that is not complete.
    #[inline(always)]
    pub(crate) fn cut<S: Simd>(self, simd: S) -> V
    where
        V: ByteVector<S>,
    {
        let most = if has_long_tables::<S, V>() { &MOST_AT_THE_END } else { &MOST_HIGH_AT_THE_END };
        self.bytes.saturating_sub(V::from_slice(simd, &most[64 - V::LEN..]))
    }
}

/// The bytes up to which the last ones begin nothing that is not complete.
const MOST_AT_THE_END: [u8; 64] = {
    let mut most = [0xff; 64];
    [most[61], most[62], most[63]] = [0xef, 0xdf, 0xbf];
    most
};

/// Their upper halves.
const MOST_HIGH_AT_THE_END: [u8; 64] = {
    let mut most = [0xf; 64];
    [most[61], most[62], most[63]] = [0xe, 0xd, 0xb];
    most
};

/// Of each block of 16 bytes in `plain`, the one before it.
#[inline(always)]
fn blocks_before<S: Simd, V: ByteVector<S>>(before: V, plain: V) -> V {
    match V::LEN {
        16 => before,
        32 => before.slide::<16>(plain),
        _ => before.slide::<48>(plain),
    }
}

#[inline(always)]
fn look_up<S: Simd, V: ByteVector<S>>(simd: S, table: [u8; 16], halves: V) -> V {
    V::block_splat(u8x16::from_slice(simd, &table)).swizzle_dyn_within_blocks(halves)
}

#[inline(always)]
fn look_up_six_bits<S: Simd, V: ByteVector<S>>(simd: S, table: &[u8; 64], bytes: V) -> V {
    V::from_slice(simd, &table[..V::LEN]).swizzle_dyn(bytes & 0x3f)
}

/// The table for the upper six bits of a byte.
const fn by_upper_bits(table: [u8; 16]) -> [u8; 64] {
    let mut long = [0; 64];
    let mut bits = 0;
    while bits < 64 {
        long[bits] = table[bits / 4];
        bits += 1;
    }
    long
}

/// The table for the lower six bits of a byte.
const fn by_lower_bits(table: [u8; 16]) -> [u8; 64] {
    let mut long = [0; 64];
    let mut bits = 0;
    while bits < 64 {
        long[bits] = table[bits % 16];
        bits += 1;
    }
    long
}
