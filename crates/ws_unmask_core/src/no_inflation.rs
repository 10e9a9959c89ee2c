//! Replaces `inflation` in a build without the feature `deflate`.

use crate::error::DecodeError;
use crate::payload::{Expected, Payload};
use crate::reassembly::Reassembly;
use alloc::collections::TryReserveError;

/// There is none.
#[derive(Debug)]
pub(crate) enum Inflation {}

impl Inflation {
    pub(crate) fn allocated(&self) -> usize {
        match *self {}
    }

    pub(crate) fn reassembly(&mut self, _: Expected) -> Reassembly {
        match *self {}
    }

    pub(crate) fn append(
        &mut self,
        _: &mut Reassembly,
        _: &mut &[u8],
        _: [u8; 4],
        _: usize,
    ) -> Result<(), DecodeError<TryReserveError>> {
        match *self {}
    }

    pub(crate) fn finish<P: Payload>(&mut self, _: Reassembly) -> Result<P, DecodeError<P::Error>> {
        match *self {}
    }
}
