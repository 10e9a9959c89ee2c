//! Inflating, with a limit that holds while it goes on.

use super::{TAIL, check_memory};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use zlib_rs::{Inflate, InflateFlush, Status};

/// The least and the most plain bytes that there is room made for at once. Each step copies its end
/// into the window, and looks back through the window for what came before it: at 1 MiB, steps of 16
/// KiB take 1.3 times as long as steps of 64 KiB.
const STEP: core::ops::RangeInclusive<usize> = 512..=64 << 10;

/// Inflates what a peer has compressed, message by message.
///
/// It accepts a message in pieces of any size, without masks: [`inflate`](Self::inflate) each of them,
/// then [`finish`](Self::finish) the message.
///
/// The plain bytes may go back for any window that a peer can negotiate, 8 to 15 bits. A block that
/// is final (its BFINAL bit is set) empties the window, as in browsers; more blocks may follow it.
#[derive(Default)]
pub struct Inflater {
    /// Created for the first message that needs it.
    stream: Option<Inflate>,
    no_context_takeover: bool,
    /// Whether a block has begun that needs more bytes, [`TAIL`] at least.
    is_open: bool,
}

impl Inflater {
    /// What its state takes, as allocated by zlib-rs.
    const STATE_SIZE: usize = 47_552;

    /// An inflater for one direction of a connection. If the peer has agreed to
    /// `no_context_takeover`, no message refers to one before it, so that memory is held only within
    /// messages.
    pub fn new(no_context_takeover: bool) -> Self {
        Self { no_context_takeover, ..Self::default() }
    }

    /// The bytes that it holds besides its own size.
    pub fn allocated(&self) -> usize {
        if self.stream.is_some() { Self::STATE_SIZE } else { 0 }
    }

    /// Inflates from the start of `piece`, from which it removes what it has used, and appends the
    /// plain bytes to `plain`, which has to hold those of this message so far, and no others. It does
    /// this in steps, at most 64 KiB of plain bytes each, so that they can be looked at between them:
    /// call it until it returns false, which means that all of `piece` is used.
    ///
    /// # Errors
    ///
    /// [`InflateError::TooBig`] as soon as there are over `limit` plain bytes. The memory of `plain`
    /// is never over `limit` and 64 KiB.
    ///
    /// After [`InflateError::Memory`] it can go on with what is left of `piece`. After other errors
    /// the connection has to be failed.
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
        // One byte over the limit, for that is how to find out.
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
            // Room that is left means that there is nothing to put into it.
            Ok(_) => {
                self.is_open = true;
                Ok(made == step)
            }
            Err(_) => Err(InflateError::Invalid),
        }
    }

    /// The end of a message: the next bytes belong to another one.
    ///
    /// # Errors
    ///
    /// [`InflateError::Invalid`] if it ends within a block.
    pub fn finish(&mut self) -> Result<(), InflateError> {
        if let (Some(stream), true) = (&mut self.stream, self.is_open) {
            // A byte too many shows whether the block ends with the tail: it is to be left over.
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

    /// Inflates a whole message, and appends it to `plain`, which has to be empty.
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

/// Makes room for `step` bytes more, and for more than that, but not for more than `limit` allows.
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
    /// It is not what RFC 7692, section 7.2.1 produces: not DEFLATE, or it ends within a block.
    Invalid,
    /// It has more plain bytes than the limit.
    TooBig,
    /// There is no memory for it.
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
