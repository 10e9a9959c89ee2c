//! Where a decoder puts payloads, and what it knows of their bytes.

use crate::{DecodeError, MaskedPayload};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// Where a decoder puts payloads: `Vec<u8>`, or a type of your own that saves a copy.
pub trait Payload: Sized {
    /// The error if an allocation fails, here or in the decoder.
    type Error: From<TryReserveError>;

    /// Takes a complete payload, still masked: `masked` unmasks it into memory of your choice, in one
    /// pass.
    ///
    /// # Errors
    ///
    /// What `masked` returns, or an allocation error.
    fn unmask(masked: MaskedPayload<'_>) -> Result<Self, DecodeError<Self::Error>>;

    /// Takes a payload that arrived in pieces and was reassembled.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for it.
    fn assembled(plain: Vec<u8>, content: Content) -> Result<Self, Self::Error>;
}

/// What is known about a payload's bytes after unmasking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Not text, or text that an extension still has to decode.
    Bytes,
    /// Text in which every byte is ASCII.
    Ascii,
    /// Text that is valid UTF-8, and not all ASCII.
    Utf8,
    /// Text that is not all ASCII and was not checked, because
    /// [`Rules::validate_utf8`](crate::Rules::validate_utf8) is off.
    UncheckedText,
}

/// What a payload has to contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Bytes,
    Text { validate: bool },
}
