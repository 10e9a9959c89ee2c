//! Text: unmasked, and checked for UTF-8 on the way.

use crate::payload::Content;
use crate::unmask::{unmask_ascii, unmask_into_uninit};
use crate::utf8::Utf8;
use core::mem::MaybeUninit;

/// How much is unmasked before it is checked: little enough to be in the cache still.
pub(crate) const BLOCK: usize = 16 << 10;

/// How much of a text is looked at to guess whether the rest is ASCII.
const PROBE: usize = 64;

/// The text is not, and cannot become, valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid;

/// What is known of a text so far.
#[derive(Debug)]
pub(crate) struct Text {
    validate: bool,
    ascii: bool,
    utf8: Utf8,
}

impl Text {
    pub(crate) fn new(validate: bool) -> Self {
        Self { validate, ascii: true, utf8: Utf8::default() }
    }

    #[cfg(feature = "deflate")]
    pub(crate) fn validate(&self) -> bool {
        self.validate
    }

    /// A whole text, into memory of the same length that may be unwritten.
    #[inline]
    pub(crate) fn unmask_whole(
        dst: &mut [MaybeUninit<u8>],
        src: &[u8],
        key: [u8; 4],
        validate: bool,
    ) -> Result<Content, Invalid> {
        // Most texts are ASCII, or are not from their start on. PROBE and BLOCK are multiples of
        // four, so every piece begins at the key's first byte.
        let probe = src.len().min(PROBE);
        let ascii = unmask_into_uninit(&mut dst[..probe], &src[..probe], key, 0);
        let start = match (ascii, probe == src.len()) {
            (true, true) => return Ok(Content::Ascii),
            (true, false) => probe,
            (false, _) => 0,
        };
        let mut text = Self { validate, ascii, utf8: Utf8::default() };
        for (dst, block) in dst[start..].chunks_mut(BLOCK).zip(src[start..].chunks(BLOCK)) {
            text.unmask_into(dst, block, key)?;
        }
        text.finish()
    }

    /// In one pass as long as all is ASCII. What has to be checked cannot be read back from where
    /// it was written unseen, so it is copied there first and unmasked in place.
    #[inline]
    fn unmask_into(
        &mut self,
        dst: &mut [MaybeUninit<u8>],
        block: &[u8],
        key: [u8; 4],
    ) -> Result<(), Invalid> {
        if self.ascii && unmask_into_uninit(dst, block, key, 0) {
            return Ok(());
        }
        let plain = dst.write_copy_of_slice(block);
        self.unmask_in_place(plain, key, 0)
    }

    /// The next piece, in place; it begins `offset` bytes into its frame.
    #[inline(always)]
    pub(crate) fn unmask_in_place(
        &mut self,
        plain: &mut [u8],
        key: [u8; 4],
        offset: usize,
    ) -> Result<(), Invalid> {
        let ascii = unmask_ascii(plain, key, offset);
        self.ascii &= ascii;
        // What is all ASCII need not be checked, unless a code point is still open.
        if !self.validate || ascii && self.utf8.is_complete() {
            return Ok(());
        }
        self.utf8.check(plain)
    }

    pub(crate) fn finish(self) -> Result<Content, Invalid> {
        match self {
            Self { ascii: true, .. } => Ok(Content::Ascii),
            Self { validate: false, .. } => Ok(Content::UncheckedText),
            Self { utf8, .. } if utf8.is_complete() => Ok(Content::Utf8),
            _ => Err(Invalid),
        }
    }
}
