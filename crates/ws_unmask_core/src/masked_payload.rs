//! A complete payload in the input, still masked.

use crate::error::{DecodeError, InvalidUtf8, ProtocolError, Violation};
use crate::payload::{Content, Expected, Payload};
use crate::reassembly::Reassembly;
use crate::text::Text;
use crate::unmask::{same_length, unmask, unmask_into_uninit};
use crate::utf8;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

/// A complete payload in the input, still masked.
#[derive(Debug)]
pub struct MaskedPayload<'a> {
    bytes: &'a [u8],
    key: [u8; 4],
    expected: Expected,
}

impl<'a> MaskedPayload<'a> {
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], key: [u8; 4], expected: Expected) -> Self {
        Self { bytes, key, expected }
    }

    /// Its length in bytes.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "an empty payload is nothing special")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Unmasks into `dst`, checks text in the same pass, and returns what it has learned about the
    /// bytes. Initializes all of `dst`; after an error perhaps only a part.
    ///
    /// # Errors
    ///
    /// Text that is not valid UTF-8; the offset counts from the start of the payload.
    ///
    /// # Panics
    ///
    /// If `dst` is not [`len`](Self::len) bytes long.
    #[inline]
    pub fn unmask_into(&self, dst: &mut [MaybeUninit<u8>]) -> Result<Content, InvalidUtf8> {
        let Self { bytes, key, expected } = *self;
        same_length(dst.len(), bytes.len());
        match expected {
            Expected::Text { validate } => {
                Text::unmask_whole(dst, bytes, key, validate).map_err(|_| invalid_utf8(bytes, key))
            }
            Expected::Bytes => {
                let _ascii = unmask_into_uninit(dst, bytes, key, 0);
                Ok(Content::Bytes)
            }
        }
    }
}

/// The position of the invalid byte in a refused text.
#[cold]
fn invalid_utf8(masked: &[u8], key: [u8; 4]) -> InvalidUtf8 {
    let mut plain = Vec::new();
    let mut at = None;
    if plain.try_reserve_exact(masked.len()).is_ok() {
        plain.extend_from_slice(masked);
        unmask(&mut plain, key, 0);
        at = utf8::first_invalid(&plain, 0);
    }
    InvalidUtf8 { offset: at.unwrap_or(0) as u64 }
}

impl Payload for Vec<u8> {
    type Error = TryReserveError;

    fn unmask(masked: MaskedPayload<'_>) -> Result<Self, DecodeError<TryReserveError>> {
        let mut reassembly = Reassembly::new(masked.expected);
        reassembly.append(masked.bytes, masked.key, 0)?;
        let end = masked.len().saturating_sub(1) as u64;
        match reassembly.finish() {
            Ok((plain, _content)) => Ok(plain),
            Err(_) => Err(ProtocolError::new(Violation::InvalidUtf8, end).into()),
        }
    }

    fn assembled(plain: Vec<u8>, _content: Content) -> Result<Self, TryReserveError> {
        Ok(plain)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{Expected, MaskedPayload};
    use core::mem::MaybeUninit;
    use std::vec;

    const BLOCK: usize = 32 << 10;

    /// A `dst` that is too long by whole blocks, or too short, would be left unwritten somewhere.
    #[test]
    fn refuses_a_dst_of_another_length() {
        for (dst, len) in [(2 * BLOCK, BLOCK), (64 + BLOCK, 64 + 2 * BLOCK), (5, 4), (4, 5)] {
            for expected in [Expected::Bytes, Expected::Text { validate: true }] {
                let masked = vec![b'x'; len];
                let unmask = || {
                    let mut dst = vec![MaybeUninit::uninit(); dst];
                    MaskedPayload::new(&masked, [0; 4], expected).unmask_into(&mut dst)
                };
                assert!(std::panic::catch_unwind(unmask).is_err(), "{len} into {dst}");
            }
        }
    }
}
