//! What callers want to know about the plain bytes, detected in the pass that unmasks.

use super::in_out::{InOut, InPlace};
use super::word::{self, Few};
use crate::Content;
use crate::key::Key;
use crate::utf8::Cut;
use crate::utf8::Invalid;

/// The answer is made inside the vectorized code, since only there the compiler drops unused work.
pub(crate) trait Answer {
    /// Whether the bytes are text, which is checked.
    const IS_TEXT: bool = false;

    /// From what vectors have seen; `end` is the end of text, if it is not all ASCII.
    fn new(is_ascii: bool, end: impl FnOnce() -> Result<Cut, Invalid>) -> Self;

    /// The path for machines without (useful) vectors.
    fn without_vectors<T: InOut>(in_out: T, key: Key, before: Cut) -> Self;

    /// From the bytes of a payload shorter than a vector, which are unmasked.
    fn of_few(plain: Few, len: usize, before: Cut) -> Self;
}

/// Nothing.
impl Answer for () {
    #[inline(always)]
    fn new(_: bool, _: impl FnOnce() -> Result<Cut, Invalid>) -> Self {}

    #[inline(always)]
    fn without_vectors<T: InOut>(in_out: T, key: Key, _: Cut) -> Self {
        word::any_length(in_out, key);
    }

    #[inline(always)]
    fn of_few(_: Few, _: usize, _: Cut) -> Self {}
}

/// Whether they are all ASCII.
impl Answer for bool {
    #[inline(always)]
    fn new(is_ascii: bool, _: impl FnOnce() -> Result<Cut, Invalid>) -> Self {
        is_ascii
    }

    #[inline(always)]
    fn without_vectors<T: InOut>(in_out: T, key: Key, _: Cut) -> Self {
        word::any_length(in_out, key)
    }

    #[inline(always)]
    fn of_few(plain: Few, _: usize, _: Cut) -> Self {
        plain.is_ascii()
    }
}

/// A piece of text that is valid so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// All of it is ASCII.
    Ascii,
    /// It is not, and this is how it ends.
    Utf8 { end: Cut },
}

impl Piece {
    /// What is known of a text that was this one piece, or `None` if it is not valid.
    #[inline(always)]
    pub(crate) fn content(piece: Result<Self, Invalid>) -> Option<Content> {
        match piece {
            Ok(Self::Ascii) => Some(Content::Ascii),
            Ok(Self::Utf8 { end }) if end.is_none() => Some(Content::Utf8),
            _ => None,
        }
    }
}

/// Whether they are valid, and all ASCII.
impl Answer for Result<Piece, Invalid> {
    const IS_TEXT: bool = true;

    #[inline(always)]
    fn new(is_ascii: bool, end: impl FnOnce() -> Result<Cut, Invalid>) -> Self {
        if is_ascii { Ok(Piece::Ascii) } else { end().map(|end| Piece::Utf8 { end }) }
    }

    #[inline(always)]
    fn without_vectors<T: InOut>(in_out: T, key: Key, before: Cut) -> Self {
        in_two_passes(in_out.copied(), key, before)
    }

    #[inline(always)]
    fn of_few(plain: Few, len: usize, before: Cut) -> Self {
        if plain.is_ascii() && before.is_none() {
            return Ok(Piece::Ascii);
        }
        before.check_few(plain.joined(), len).map(|end| Piece::Utf8 { end })
    }
}

/// Text that is unmasked, then checked by the standard library.
#[inline(never)]
fn in_two_passes(payload: &mut [u8], key: Key, before: Cut) -> Result<Piece, Invalid> {
    let is_ascii = word::any_length(InPlace(payload), key);
    if is_ascii && before.is_none() {
        return Ok(Piece::Ascii);
    }
    before.check(payload).map(|end| Piece::Utf8 { end })
}
