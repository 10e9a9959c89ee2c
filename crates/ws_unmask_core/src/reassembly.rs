//! Reassembles a payload from pieces.

use crate::error::{DecodeError, ProtocolError, Violation};
use crate::payload::{Content, Expected};
use crate::text::Text;
use crate::unmask::unmask;
use crate::utf8;
use crate::utf8::Invalid;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// How many bytes are copied before they are unmasked: few enough to be still in the cache.
const BLOCK: usize = 16 << 10;

/// A payload that is reassembled from pieces. Its memory grows with the data received, never with
/// what a header promises.
#[derive(Debug)]
pub(crate) struct Reassembly {
    plain: Vec<u8>,
    text: Option<Text>,
}

impl Reassembly {
    pub(crate) fn new(expected: Expected) -> Self {
        Self::within(Vec::new(), expected)
    }

    /// Reuses memory, which has to be empty.
    pub(crate) fn within(plain: Vec<u8>, expected: Expected) -> Self {
        let text = match expected {
            Expected::Bytes => None,
            Expected::Text { validate } => Some(Text::new(validate)),
        };
        Self { plain, text }
    }

    pub(crate) fn len(&self) -> usize {
        self.plain.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.plain.capacity()
    }

    /// Unmasks `bytes`, which begin `offset` bytes into their frame, to the end of the payload. An
    /// error's offset counts from the start of `bytes`.
    pub(crate) fn append(
        &mut self,
        bytes: &[u8],
        key: [u8; 4],
        offset: usize,
    ) -> Result<(), DecodeError<TryReserveError>> {
        self.plain.try_reserve(bytes.len()).map_err(DecodeError::Memory)?;
        let before = self.plain.len();
        // BLOCK is a multiple of four, so every block begins at the same byte of the key.
        for block in bytes.chunks(BLOCK) {
            let start = self.plain.len();
            self.plain.extend_from_slice(block);
            let plain = &mut self.plain[start..];
            match &mut self.text {
                None => unmask(plain, key, offset),
                Some(text) => text
                    .unmask_in_place(plain, key, offset)
                    .map_err(|Invalid| invalid_utf8(&self.plain, before, start))?,
            }
        }
        Ok(())
    }

    #[cfg(feature = "deflate")]
    pub(crate) fn expected(&self) -> Expected {
        self.text
            .as_ref()
            .map_or(Expected::Bytes, |text| Expected::Text { validate: text.validate() })
    }

    /// Appends what `fill` appends, which is not masked.
    #[cfg(feature = "deflate")]
    pub(crate) fn extend(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), Invalid> {
        let before = self.plain.len();
        fill(&mut self.plain);
        match &mut self.text {
            None => Ok(()),
            // A key of zeros changes nothing.
            Some(text) => text.unmask_in_place(&mut self.plain[before..], [0; 4], 0),
        }
    }

    pub(crate) fn finish(self) -> Result<(Vec<u8>, Content), Invalid> {
        let content = self.text.map_or(Ok(Content::Bytes), Text::finish)?;
        Ok((self.plain, content))
    }
}

/// Where the block that begins at `start` is invalid, seen from the piece that begins at `piece`.
#[cold]
fn invalid_utf8(plain: &[u8], piece: usize, start: usize) -> ProtocolError {
    let at = utf8::first_invalid(plain, start).unwrap_or(start);
    ProtocolError::new(Violation::InvalidUtf8, (at - piece) as u64)
}
