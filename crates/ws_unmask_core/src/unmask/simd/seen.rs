//! What is known about vectors of plain bytes, detected while they are in registers.

use crate::unmask::answer::Answer;
use crate::utf8::Invalid;
use crate::utf8::vectors::{ByteVector, Digest};
use crate::utf8::{Cut, Word};
use core::marker::PhantomData;
use fearless_simd::{prelude::*, u8x16, u32x4};

/// Whether all vectors so far are ASCII and, if the answer is to be about text, whether they are
/// UTF-8.
pub(super) struct Seen<S, V, A> {
    simd: S,
    /// All bits; not used for text.
    bits: V,
    /// Whether what was seen last is not all ASCII: `last` counts then, and not otherwise.
    is_open: bool,
    last: Digest<V>,
    is_checked: bool,
    errors: V,
    answer: PhantomData<A>,
}

impl<S: Simd, V: ByteVector<S>, A: Answer> Seen<S, V, A> {
    #[inline(always)]
    pub(super) fn new(simd: S, before: Cut) -> Self {
        let zero = V::splat(simd, 0);
        Self {
            simd,
            bits: zero,
            is_open: A::IS_TEXT && !before.is_none(),
            last: Self::digest(simd, 0),
            is_checked: false,
            errors: zero,
            answer: PhantomData,
        }
    }

    /// Vectors of what is not text.
    #[inline(always)]
    pub(super) fn also<const N: usize>(&mut self, plain: [V; N]) {
        self.bits |= union(plain);
    }

    /// The first vectors, which may belong to what comes next, and whether the last ones have to be
    /// checked.
    #[inline(always)]
    pub(super) fn head<const H: usize, const T: usize>(
        &mut self,
        before: Cut,
        head: [V; H],
        must_be_checked: bool,
        tail: [V; T],
    ) -> bool {
        let is_open = self.is_open || !is_ascii(union(head) | union(tail));
        if is_open && must_be_checked {
            self.check(Self::digest(self.simd, before.word()), head);
        }
        self.is_open = is_open;
        is_open
    }

    /// What comes next lies behind the four bytes of `before`.
    #[inline(always)]
    pub(super) fn go_on_behind(&mut self, before: impl FnOnce() -> Word) {
        if self.is_open {
            self.last = Self::digest(self.simd, before());
        }
    }

    /// `first` and `second` lie behind what was seen last. ASCII among other text is passed over, if
    /// it is all of the one or the other: smaller parts cost more than they save.
    #[inline(always)]
    pub(super) fn next<const N: usize>(&mut self, first: [V; N], second: [V; N]) {
        let (first_bits, second_bits) = (union(first), union(second));
        if is_ascii(first_bits | second_bits) {
            self.pass_over_ascii();
        } else if is_ascii(second_bits) {
            self.check_next(first);
            self.pass_over_ascii();
        } else if is_ascii(first_bits) {
            self.pass_over_ascii();
            self.check_next(second);
        } else {
            self.check_next(first);
            self.check_next(second);
        }
    }

    /// ASCII is right wherever no code point is cut.
    #[inline(always)]
    fn pass_over_ascii(&mut self) {
        if self.is_open {
            self.errors |= self.last.cut(self.simd);
            self.last = Self::digest(self.simd, 0);
            self.is_open = false;
        }
    }

    #[inline(always)]
    fn check_next<const N: usize>(&mut self, plain: [V; N]) {
        self.check(self.last, plain);
        self.is_open = true;
    }

    /// The last vectors, behind the four bytes of `before`.
    #[inline(always)]
    pub(super) fn tail<const N: usize>(
        &mut self,
        must_be_checked: bool,
        before: impl FnOnce() -> Word,
        tail: [V; N],
    ) {
        if must_be_checked || self.is_open {
            self.check(Self::digest(self.simd, before()), tail);
        }
    }

    /// All of it at once: two groups of vectors, and what lies before each.
    #[inline(always)]
    pub(super) fn ends<const H: usize, const T: usize>(
        &mut self,
        before_head: Cut,
        head: [V; H],
        before_tail: impl FnOnce() -> Word,
        tail: [V; T],
    ) {
        let bits = union(head) | union(tail);
        if !A::IS_TEXT {
            self.bits |= bits;
        } else if self.is_open || !is_ascii(bits) {
            self.check(Self::digest(self.simd, before_head.word()), head);
            self.check(Self::digest(self.simd, before_tail()), tail);
        }
    }

    #[inline(always)]
    pub(super) fn is_ascii(&self) -> bool {
        if A::IS_TEXT { !self.is_checked } else { is_ascii(self.bits) }
    }

    /// `end` gives the last four bytes of all.
    #[inline(always)]
    pub(super) fn answer(&self, end: impl FnOnce() -> Word) -> A {
        // Not in the closure: if that is not inlined, it is compiled without these vectors.
        let is_valid = !A::IS_TEXT || self.errors.simd_eq(0).all_true();
        A::new(
            self.is_ascii(),
            #[inline(always)]
            || if is_valid { Cut::at_the_end(end()) } else { Err(Invalid) },
        )
    }

    #[inline(always)]
    fn digest(simd: S, last: Word) -> Digest<V> {
        Digest::new(simd, splat(simd, last.to_le()))
    }

    #[inline(always)]
    fn check<const N: usize>(&mut self, before: Digest<V>, plain: [V; N]) {
        self.last = before;
        for vector in plain {
            let digest = Digest::new(self.simd, vector);
            self.errors |= digest.errors(self.simd, self.last);
            self.last = digest;
        }
        self.is_checked = true;
    }
}

/// `word`, as it lies in memory, again and again.
#[inline(always)]
pub(super) fn splat<S: Simd, V: ByteVector<S>>(simd: S, word: u32) -> V {
    V::block_splat(u32x4::splat(simd, word).bitcast::<u8x16<S>>())
}

/// The bits that are set in any of the vectors.
#[inline(always)]
fn union<const N: usize, S: Simd, V: ByteVector<S>>(vectors: [V; N]) -> V {
    let mut all = vectors[0];
    for vector in &vectors[1..] {
        all |= *vector;
    }
    all
}

#[inline(always)]
fn is_ascii<S: Simd, V: ByteVector<S>>(seen: V) -> bool {
    !seen.simd_ge(0x80).any_true()
}
