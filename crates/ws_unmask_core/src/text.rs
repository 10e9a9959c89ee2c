//! Text: unmasks and checks it as UTF-8 in one pass.

use crate::payload::Content;
use crate::unmask::{Piece, unmask_ascii, unmask_into_uninit, unmask_text, unmask_text_into};
use crate::utf8::{Cut, Invalid};
use core::mem::MaybeUninit;

/// What is known about a text so far.
#[derive(Debug)]
pub(crate) struct Text {
    validate: bool,
    is_ascii: bool,
    end: Cut,
}

impl Text {
    pub(crate) fn new(validate: bool) -> Self {
        Self { validate, is_ascii: true, end: Cut::default() }
    }

    #[cfg(feature = "deflate")]
    pub(crate) fn validate(&self) -> bool {
        self.validate
    }

    /// Unmasks a whole text into memory of the same length, which may be unwritten.
    #[inline]
    pub(crate) fn unmask_whole(
        dst: &mut [MaybeUninit<u8>],
        src: &[u8],
        key: [u8; 4],
        validate: bool,
    ) -> Result<Content, Invalid> {
        if !validate {
            let is_ascii = unmask_into_uninit(dst, src, key, 0);
            return Ok(if is_ascii { Content::Ascii } else { Content::UncheckedText });
        }
        Piece::content(unmask_text_into(dst, src, key, Cut::default())).ok_or(Invalid)
    }

    /// Unmasks the next piece in place; it begins `offset` bytes into its frame. An invalid byte is
    /// found in the piece that contains it.
    pub(crate) fn unmask_in_place(
        &mut self,
        plain: &mut [u8],
        key: [u8; 4],
        offset: usize,
    ) -> Result<(), Invalid> {
        if !self.validate {
            self.is_ascii &= unmask_ascii(plain, key, offset);
        } else if let Piece::Utf8 { end } = unmask_text(plain, key, offset, self.end)? {
            (self.is_ascii, self.end) = (false, end);
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Content, Invalid> {
        match self {
            Self { is_ascii: true, .. } => Ok(Content::Ascii),
            Self { validate: false, .. } => Ok(Content::UncheckedText),
            Self { end, .. } if end.is_none() => Ok(Content::Utf8),
            _ => Err(Invalid),
        }
    }
}
