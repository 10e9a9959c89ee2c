//! Reassembles a compressed payload: pieces are unmasked, inflated and checked as they arrive.

use crate::MaskedPayload;
use crate::deflate::{InflateError, Inflater};
use crate::error::{DecodeError, ProtocolError, Violation};
use crate::payload::{Expected, Payload};
use crate::reassembly::Reassembly;
use crate::unmask::unmask;
use crate::utf8::Invalid;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::mem::{MaybeUninit, take};

/// How many bytes are unmasked at a time, before they are inflated.
const BLOCK: usize = 8 << 10;

/// Payloads up to this size are inflated into a reused buffer, and copied from there.
const SPARE: usize = 16 << 10;

/// A decoder's state for compressed messages.
#[derive(Debug)]
pub(crate) struct Inflation {
    inflater: Inflater,
    /// The maximum plain bytes of a message.
    limit: u64,
    spare: Vec<u8>,
}

impl Inflation {
    pub(crate) fn new(inflater: Inflater, limit: u64) -> Self {
        Self { inflater, limit, spare: Vec::new() }
    }

    pub(crate) fn allocated(&self) -> usize {
        self.inflater.allocated() + self.spare.capacity()
    }

    /// Starts the next message.
    pub(crate) fn reassembly(&mut self, expected: Expected) -> Reassembly {
        Reassembly::within(take(&mut self.spare), expected)
    }

    /// Inflates `masked`, which starts `offset` bytes into its frame, and removes what it has consumed:
    /// all of it, unless there is an error. Errors have no offset.
    pub(crate) fn append(
        &mut self,
        reassembly: &mut Reassembly,
        masked: &mut &[u8],
        key: [u8; 4],
        offset: usize,
    ) -> Result<(), DecodeError<TryReserveError>> {
        let mut offset = offset;
        loop {
            let mut block = [MaybeUninit::uninit(); BLOCK];
            let size = masked.len().min(BLOCK);
            let block = block[..size].write_copy_of_slice(&masked[..size]);
            unmask(block, key, offset);
            let mut piece = &*block;
            let result = self.append_plain(reassembly, &mut piece);
            let used = size - piece.len();
            *masked = &masked[used..];
            offset += used;
            result?;
            if masked.is_empty() {
                return Ok(());
            }
        }
    }

    /// Checks the bytes inflated before an error first, so that the result does not depend on the size
    /// of the chunks.
    fn append_plain(
        &mut self,
        reassembly: &mut Reassembly,
        piece: &mut &[u8],
    ) -> Result<(), DecodeError<TryReserveError>> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        loop {
            let mut result = Ok(false);
            reassembly
                .extend(|plain| {
                    result = self.inflater.inflate(piece, plain, limit);
                    plain.truncate(limit);
                })
                .map_err(|Invalid| violation(Violation::InvalidUtf8))?;
            if !result.map_err(|error| self.refused(error))? {
                return Ok(());
            }
        }
    }

    /// The payload of a complete message.
    pub(crate) fn finish<P: Payload>(
        &mut self,
        reassembly: Reassembly,
    ) -> Result<P, DecodeError<P::Error>> {
        self.inflater.finish().map_err(|_| violation(Violation::InvalidDeflate))?;
        let expected = reassembly.expected();
        let (plain, content) =
            reassembly.finish().map_err(|Invalid| violation(Violation::InvalidUtf8))?;
        if plain.len() > SPARE {
            return P::assembled(plain, content).map_err(DecodeError::Memory);
        }
        // It is kept here and not on the stack, so that nothing leaks if the payload's type allocates
        // from Ruby, which jumps over Rust's frames when there is no memory.
        self.spare = plain;
        let payload = P::unmask(MaskedPayload::new(&self.spare, [0; 4], expected));
        self.spare.clear();
        if self.spare.capacity() > SPARE {
            self.spare = Vec::new();
        }
        payload
    }

    fn refused(&self, error: InflateError) -> DecodeError<TryReserveError> {
        violation(match error {
            InflateError::Memory(error) => return DecodeError::Memory(error),
            InflateError::Invalid => Violation::InvalidDeflate,
            InflateError::TooBig => {
                Violation::MessageTooBig { size: self.limit + 1, limit: self.limit }
            }
        })
    }
}

fn violation<E>(kind: Violation) -> DecodeError<E> {
    ProtocolError::new(kind, 0).into()
}
