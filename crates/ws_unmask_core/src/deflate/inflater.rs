//! Inflates messages, with a limit that is enforced during inflating.

use super::{TAIL, check_memory};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use zlib_rs::{Inflate, InflateFlush, Status};

/// The minimum and maximum plain bytes of a step, for which room is made at once. Each step copies its
/// end into the window, and refers back through the window: at 1 MiB, steps of 16 KiB take 1.3 times
/// as long as steps of 64 KiB.
const STEP: core::ops::RangeInclusive<usize> = 512..=64 << 10;

/// Inflates what a peer has compressed, message by message.
///
/// It accepts a message in pieces of any size, without masks: [`inflate`](Self::inflate) each of them,
/// then [`finish`](Self::finish) the message.
///
/// It supports every window that a peer can negotiate, 8 to 15 bits. A block that
/// is final (its BFINAL bit is set) empties the window, as in browsers; more blocks may follow it.
#[derive(Default)]
pub struct Inflater {
    /// Created for the first message that needs it.
    stream: Option<Inflate>,
    no_context_takeover: bool,
    /// Whether a block has started that needs more bytes, at least [`TAIL`].
    is_open: bool,
}

impl Inflater {
    /// The size of its state as allocated by zlib-rs.
    const STATE_SIZE: usize = 47_552;

    /// An inflater for one direction of a connection. If the peer has agreed to
    /// `no_context_takeover`, no message refers to those before it, so memory is held only during a
    /// message.
    pub fn new(no_context_takeover: bool) -> Self {
        Self { no_context_takeover, ..Self::default() }
    }

    /// The bytes that it holds besides its own size.
    pub fn allocated(&self) -> usize {
        if self.stream.is_some() { Self::STATE_SIZE } else { 0 }
    }

    /// Inflates from the start of `piece`, removes what it has consumed, and appends the plain bytes to
    /// `plain`, which has to contain those of this message so far and nothing else. Each call
    /// appends at most 64 KiB, so that you can check them in between. Call it until it returns
    /// false: then all of `piece` is consumed.
    ///
    /// # Errors
    ///
    /// [`InflateError::TooBig`] as soon as there are more than `limit` plain bytes. The memory of
    /// `plain` never exceeds `limit` plus 64 KiB.
    ///
    /// After [`InflateError::Memory`] it can continue with the rest of `piece`. After other errors the
    /// connection has to be closed.
    pub fn inflate(
        &mut self,
        piece: &mut &[u8],
        plain: &mut Vec<u8>,
        limit: usize,
    ) -> Result<bool, InflateError> {
        if piece.is_empty() && !self.is_open {
            return Ok(false);
        }
        if self.stream.is_none() {
            check_memory(Self::STATE_SIZE)?;
        }
        let before = plain.len();
        // One byte over the limit, to detect that it is exceeded.
        let room = limit.saturating_add(1).saturating_sub(before);
        let step = piece.len().saturating_mul(8).clamp(*STEP.start(), *STEP.end()).min(room);
        reserve(plain, step, limit)?;
        let stream = self.stream.get_or_insert_with(|| Inflate::new(false, 15));
        plain.resize(before + step, 0);
        let (used_before, made_before) = (stream.total_in(), stream.total_out());
        let result = stream.decompress(piece, &mut plain[before..], InflateFlush::NoFlush);
        let used = (stream.total_in() - used_before) as usize;
        let made = (stream.total_out() - made_before) as usize;
        *piece = &piece[used..];
        plain.truncate(before + made);
        match result {
            _ if plain.len() > limit => Err(InflateError::TooBig),
            Ok(Status::StreamEnd) => {
                stream.reset(false);
                self.is_open = false;
                Ok(!piece.is_empty())
            }
            // If room is left, there is no more output.
            Ok(_) => {
                self.is_open = true;
                Ok(made == step)
            }
            Err(_) => Err(InflateError::Invalid),
        }
    }

    /// Ends a message: the next bytes belong to another one.
    ///
    /// # Errors
    ///
    /// [`InflateError::Invalid`] if it ends inside a block.
    pub fn finish(&mut self) -> Result<(), InflateError> {
        if let (Some(stream), true) = (&mut self.stream, self.is_open) {
            // An additional byte shows whether the block ends with the tail: it has to remain.
            let tail = [TAIL[0], TAIL[1], TAIL[2], TAIL[3], 0];
            let (used_before, made_before) = (stream.total_in(), stream.total_out());
            let result = stream.decompress(&tail, &mut [0; 8], InflateFlush::Block);
            let used = stream.total_in() - used_before;
            if result != Ok(Status::Ok) || used != 4 || stream.total_out() != made_before {
                return Err(InflateError::Invalid);
            }
        }
        self.is_open = false;
        if self.no_context_takeover {
            self.stream = None;
        }
        Ok(())
    }

    /// Inflates a whole message into `plain`, which has to be empty.
    ///
    /// # Errors
    ///
    /// As for [`inflate`](Self::inflate) and [`finish`](Self::finish).
    pub fn inflate_message(
        &mut self,
        mut payload: &[u8],
        plain: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(), InflateError> {
        while self.inflate(&mut payload, plain, limit)? {}
        self.finish()
    }
}

/// Makes room for at least `step` more bytes, but not for more than `limit` allows.
fn reserve(plain: &mut Vec<u8>, step: usize, limit: usize) -> Result<(), TryReserveError> {
    let needed = plain.len() + step;
    if needed <= plain.capacity() {
        return Ok(());
    }
    let doubled = plain.capacity().saturating_mul(2).min(limit.saturating_add(*STEP.end()));
    plain.try_reserve_exact(doubled.max(needed) - plain.len())
}

impl fmt::Debug for Inflater {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Inflater")
            .field("no_context_takeover", &self.no_context_takeover)
            .field("allocated", &self.allocated())
            .finish_non_exhaustive()
    }
}

/// Why a message cannot be inflated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InflateError {
    /// It is not valid DEFLATE, or ends inside a block (RFC 7692, section 7.2.1).
    Invalid,
    /// It has more plain bytes than the limit allows.
    TooBig,
    /// There is not enough memory for it.
    Memory(TryReserveError),
}

impl From<TryReserveError> for InflateError {
    fn from(error: TryReserveError) -> Self {
        Self::Memory(error)
    }
}

impl fmt::Display for InflateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => write!(formatter, "message is not valid DEFLATE"),
            Self::TooBig => write!(formatter, "inflated message is over the limit"),
            Self::Memory(error) => error.fmt(formatter),
        }
    }
}

impl Error for InflateError {}
