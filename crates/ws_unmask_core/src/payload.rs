//! Payloads on their way from the chunk they came in to the memory of whoever asked for them.

use crate::Fault;
use crate::unmask::{same_length, unmask, unmask_ascii, unmask_into_uninit};
use crate::utf8::{Invalid, Utf8};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

/// How much is unmasked before it is checked: little enough to be in the cache still.
const BLOCK: usize = 16 << 10;

/// How much of a text is looked at to guess whether the rest is ASCII.
const PROBE: usize = 64;

/// Where a decoder puts payloads: `Vec<u8>`, or a type of one's own that spares a copy.
pub trait Payload: Sized {
    /// What can go wrong when memory is asked for, by the decoder itself too.
    type Error: From<TryReserveError>;

    /// A payload that lies whole in the chunk, still masked: `masked` writes it wherever it is to
    /// be, in one pass.
    fn unmask(masked: Masked<'_>) -> Result<Self, PayloadError<Self::Error>>;

    /// A payload that came in pieces and has been put together.
    fn assembled(plain: Vec<u8>, content: Content) -> Result<Self, Self::Error>;
}

/// Why there is no payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadError<E> {
    /// It is against the protocol.
    Fault(Fault),
    /// There was no place for it.
    Memory(E),
}

impl<E> From<Fault> for PayloadError<E> {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Invalid> for Fault {
    fn from(_: Invalid) -> Self {
        Self::InvalidUtf8
    }
}

impl<E> From<Invalid> for PayloadError<E> {
    fn from(_: Invalid) -> Self {
        Self::Fault(Fault::InvalidUtf8)
    }
}

/// What is known of a payload's bytes, found out while they were unmasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes that are no text, or a text that an extension has still to decode.
    Bytes,
    /// A text of which every byte is ASCII.
    Ascii,
    /// A text that is valid UTF-8, and not all of it ASCII.
    Utf8,
    /// A text, not all of it ASCII, that was not checked because nobody wanted it to be.
    UncheckedText,
}

/// What a payload is to be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Bytes,
    Text { validate: bool },
}

/// A payload that lies whole in the chunk, masked.
#[derive(Debug)]
pub struct Masked<'a> {
    bytes: &'a [u8],
    key: [u8; 4],
    expected: Expected,
}

impl<'a> Masked<'a> {
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], key: [u8; 4], expected: Expected) -> Self {
        Self { bytes, key, expected }
    }

    /// How many bytes it has.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "nobody asks for that")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Unmasks into `dst`, checks a text on the way, and says what it found. All of `dst` is
    /// initialised then; if there was a fault, perhaps only a part.
    ///
    /// # Panics
    ///
    /// If `dst` is not of [`len`](Self::len) bytes.
    #[inline]
    pub fn unmask_into(self, dst: &mut [MaybeUninit<u8>]) -> Result<Content, Fault> {
        let Self { bytes, key, expected } = self;
        same_length(dst.len(), bytes.len());
        let Expected::Text { validate } = expected else {
            let _ascii = unmask_into_uninit(dst, bytes, key, 0);
            return Ok(Content::Bytes);
        };
        // Most texts are ASCII, or are not from their start on. PROBE and BLOCK are multiples of four,
        // so every piece begins at the key's first byte.
        let probe = bytes.len().min(PROBE);
        let ascii = unmask_into_uninit(&mut dst[..probe], &bytes[..probe], key, 0);
        let start = match (ascii, probe == bytes.len()) {
            (true, true) => return Ok(Content::Ascii),
            (true, false) => probe,
            (false, _) => 0,
        };
        let mut text = Text { validate, ascii, utf8: Utf8::default() };
        for (place, block) in dst[start..].chunks_mut(BLOCK).zip(bytes[start..].chunks(BLOCK)) {
            text.unmask_into(place, block, key)?;
        }
        text.finish()
    }
}

impl Payload for Vec<u8> {
    type Error = TryReserveError;

    fn unmask(masked: Masked<'_>) -> Result<Self, PayloadError<TryReserveError>> {
        let mut assembly = Assembly::new(masked.expected);
        assembly.append(masked.bytes, masked.key, 0)?;
        Ok(assembly.finish()?.0)
    }

    fn assembled(plain: Vec<u8>, _content: Content) -> Result<Self, TryReserveError> {
        Ok(plain)
    }
}

/// A payload that is put together from what comes. It takes memory for what has come, never for
/// what a header has promised.
#[derive(Debug)]
pub(crate) struct Assembly {
    plain: Vec<u8>,
    text: Option<Text>,
}

impl Assembly {
    pub(crate) fn new(expected: Expected) -> Self {
        let text = match expected {
            Expected::Bytes => None,
            Expected::Text { validate } => Some(Text::new(validate)),
        };
        Self { plain: Vec::new(), text }
    }

    pub(crate) fn len(&self) -> usize {
        self.plain.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.plain.capacity()
    }

    /// Unmasks `bytes`, which begin `offset` bytes into their frame, to the end of the payload.
    pub(crate) fn append(
        &mut self,
        bytes: &[u8],
        key: [u8; 4],
        offset: usize,
    ) -> Result<(), PayloadError<TryReserveError>> {
        self.plain.try_reserve(bytes.len()).map_err(PayloadError::Memory)?;
        // BLOCK is a multiple of four, so every block begins at the same byte of the key.
        for block in bytes.chunks(BLOCK) {
            let start = self.plain.len();
            self.plain.extend_from_slice(block);
            let plain = &mut self.plain[start..];
            match &mut self.text {
                None => unmask(plain, key, offset),
                Some(text) => text.unmask_in_place(plain, key, offset)?,
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(Vec<u8>, Content), Fault> {
        let content = self.text.map_or(Ok(Content::Bytes), Text::finish)?;
        Ok((self.plain, content))
    }
}

/// What is known of a text so far.
#[derive(Debug)]
struct Text {
    validate: bool,
    ascii: bool,
    utf8: Utf8,
}

impl Text {
    fn new(validate: bool) -> Self {
        Self { validate, ascii: true, utf8: Utf8::default() }
    }

    /// In one pass as long as all is ASCII. What has to be checked cannot be read back from where
    /// it was written unseen, so it is copied there first and unmasked in its place.
    #[inline]
    fn unmask_into(
        &mut self,
        place: &mut [MaybeUninit<u8>],
        block: &[u8],
        key: [u8; 4],
    ) -> Result<(), Invalid> {
        if self.ascii && unmask_into_uninit(place, block, key, 0) {
            return Ok(());
        }
        let plain = place.write_copy_of_slice(block);
        self.unmask_in_place(plain, key, 0)
    }

    fn unmask_in_place(
        &mut self,
        plain: &mut [u8],
        key: [u8; 4],
        offset: usize,
    ) -> Result<(), Invalid> {
        let ascii = unmask_ascii(plain, key, offset);
        self.ascii &= ascii;
        // What is all ASCII has nothing to be checked, unless a code point is still open.
        if !self.validate || ascii && self.utf8.is_complete() {
            return Ok(());
        }
        self.utf8.check(plain)
    }

    fn finish(self) -> Result<Content, Fault> {
        match self {
            Self { ascii: true, .. } => Ok(Content::Ascii),
            Self { validate: false, .. } => Ok(Content::UncheckedText),
            Self { utf8, .. } if utf8.is_complete() => Ok(Content::Utf8),
            _ => Err(Fault::InvalidUtf8),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{BLOCK, Expected, Masked};
    use core::mem::MaybeUninit;
    use std::vec;

    /// A place that is too long by whole blocks, or too short, would be left unwritten somewhere.
    #[test]
    fn refuses_a_place_of_another_length() {
        for (place, len) in [(2 * BLOCK, BLOCK), (64 + BLOCK, 64 + 2 * BLOCK), (5, 4), (4, 5)] {
            for expected in [Expected::Bytes, Expected::Text { validate: true }] {
                let masked = vec![b'x'; len];
                let unmask = || {
                    let mut place = vec![MaybeUninit::uninit(); place];
                    Masked::new(&masked, [0; 4], expected).unmask_into(&mut place)
                };
                assert!(std::panic::catch_unwind(unmask).is_err(), "{len} into {place}");
            }
        }
    }
}
