//! Deflating whole messages.

use super::{TAIL, check_memory};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;
use core::ops::RangeInclusive;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush};

/// zlib's memLevel, here for blocks of at most 2,048 symbols. The default, 8, takes 100 KB more for
/// each connection, and makes 1 MiB of JSON 0.7 % smaller and messages of up to 16 KiB not at all.
const MEM_LEVEL: i32 = 5;

std::thread_local! {
    /// The state of the last message without context takeover, for the next one of this thread:
    /// resetting it costs 3 us, allocating another up to 90.
    static SPARE: Cell<Option<(Settings, Deflate)>> = const { Cell::new(None) };
}

/// Compresses messages for one direction of a connection.
pub struct Deflater {
    settings: Settings,
    no_context_takeover: bool,
    /// What the next message may refer to.
    stream: Option<Deflate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    window_bits: u8,
    level: u8,
}

impl Deflater {
    /// The supported window bits. zlib-rs does not support 8, so [`Parameters`] neither offers nor
    /// accepts that for what this end compresses.
    ///
    /// [`Parameters`]: super::Parameters
    pub const WINDOW_BITS: RangeInclusive<u8> = 9..=15;

    /// The levels: from 0 (do not compress) and 1 (fast) to 9 (small).
    pub const LEVELS: RangeInclusive<u8> = 0..=9;

    /// zlib's default level.
    pub const DEFAULT_LEVEL: u8 = 6;

    /// A deflater for one direction of a connection. `window_bits` out of range are replaced by the
    /// nearest supported value. With `no_context_takeover` each message is compressed independently,
    /// and all such deflaters of a thread share one state.
    pub fn new(window_bits: u8, no_context_takeover: bool) -> Self {
        let window_bits = window_bits.clamp(*Self::WINDOW_BITS.start(), *Self::WINDOW_BITS.end());
        let settings = Settings { window_bits, level: Self::DEFAULT_LEVEL };
        Self { settings, no_context_takeover, stream: None }
    }

    /// The same with another level; levels above 9 count as 9.
    #[must_use]
    pub fn with_level(self, level: u8) -> Self {
        let settings = Settings { level: level.min(*Self::LEVELS.end()), ..self.settings };
        Self { settings, stream: None, ..self }
    }

    /// Whether each message is compressed independently. If not, every message that was compressed
    /// has to be sent in that form, since the next one may refer to it.
    pub fn no_context_takeover(&self) -> bool {
        self.no_context_takeover
    }

    /// The bytes that it holds besides its own size.
    pub fn allocated(&self) -> usize {
        if self.stream.is_some() { self.settings.state_size() } else { 0 }
    }

    /// Appends to `output` the payload of a compressed message (RFC 7692, section 7.2.1).
    ///
    /// # Errors
    ///
    /// If there is not enough memory: `output` is then unchanged, and the next message does not refer
    /// to those before it.
    pub fn deflate(&mut self, plain: &[u8], output: &mut Vec<u8>) -> Result<(), TryReserveError> {
        if plain.is_empty() {
            // Section 7.2.3.6; zlib would write nothing if it has just flushed.
            output.try_reserve(1)?;
            output.push(0);
            return Ok(());
        }
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.settings.stream()?,
        };
        let start = output.len();
        if let Err(error) = append(&mut stream, plain, output) {
            output.truncate(start);
            return Err(error);
        }
        if self.no_context_takeover {
            stream.reset();
            SPARE.set(Some((self.settings, stream)));
        } else {
            self.stream = Some(stream);
        }
        Ok(())
    }

    /// Makes the next message independent of those before it. For a message that was compressed but
    /// cannot be sent.
    pub fn forget(&mut self) {
        self.stream = None;
    }
}

impl Settings {
    fn stream(self) -> Result<Deflate, TryReserveError> {
        if let Some((settings, stream)) = SPARE.take()
            && settings == self
        {
            return Ok(stream);
        }
        check_memory(self.state_size())?;
        Ok(Deflate::new_with_config(DeflateConfig {
            level: self.level.into(),
            window_bits: -i32::from(self.window_bits), // negative: without zlib's header
            mem_level: MEM_LEVEL,
            ..DeflateConfig::default()
        }))
    }

    /// The size of the state as allocated by zlib-rs: a hash table, the window twice, a link for each
    /// of its bytes, and the symbols and output of a block.
    fn state_size(self) -> usize {
        131_072 + (4 << self.window_bits) + (7 << (MEM_LEVEL + 6)) + 3_200
    }
}

/// Compresses all of `plain` into blocks that end with [`TAIL`], which is left out.
fn append(
    stream: &mut Deflate,
    mut plain: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), TryReserveError> {
    loop {
        let before = output.len();
        let step = plain.len() / 2 + 64;
        output.try_reserve(step)?;
        output.resize(before + step, 0);
        let (used_before, made_before) = (stream.total_in(), stream.total_out());
        // It returns an error only for a stream that was finished, which is never done.
        let _ = stream.compress(plain, &mut output[before..], DeflateFlush::SyncFlush);
        plain = &plain[(stream.total_in() - used_before) as usize..];
        let made = (stream.total_out() - made_before) as usize;
        output.truncate(before + made);
        // If room is left, there is no more output.
        if made < step && plain.is_empty() {
            break;
        }
    }
    debug_assert!(output.ends_with(&TAIL));
    output.truncate(output.len() - TAIL.len());
    Ok(())
}

impl fmt::Debug for Deflater {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Deflater")
            .field("settings", &self.settings)
            .field("no_context_takeover", &self.no_context_takeover)
            .field("allocated", &self.allocated())
            .finish_non_exhaustive()
    }
}
