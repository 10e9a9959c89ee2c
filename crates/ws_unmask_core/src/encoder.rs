//! A sans-IO encoder: messages in, bytes out.

use crate::error::ProtocolError;
use crate::frame::{Header, Opcode};
use crate::unmask;
#[cfg(feature = "deflate")]
use crate::{deflate::Deflater, rules::PER_MESSAGE};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

/// Encodes the messages of one connection, in one direction, as a frame each.
///
/// ```
/// use ws_unmask_core::{Encoder, frame::Opcode};
///
/// let mut output = Vec::new();
/// Encoder::new().encode(Opcode::Text, b"Hello", None, &mut output).unwrap();
/// assert_eq!(output, b"\x81\x05Hello");
/// ```
#[derive(Debug, Default)]
pub struct Encoder {
    #[cfg(feature = "deflate")]
    compression: Option<Compression>,
}

#[cfg(feature = "deflate")]
#[derive(Debug)]
struct Compression {
    deflater: Deflater,
    threshold: usize,
}

impl Encoder {
    /// An encoder at the start of a connection's frames, right behind the handshake.
    pub fn new() -> Self {
        Self::default()
    }

    /// An encoder that compresses messages of `threshold` bytes or more. What does not become
    /// shorter is sent as it is; but with context takeover, what was compressed has to be sent so.
    ///
    /// ```
    /// use ws_unmask_core::{Encoder, deflate::Deflater, frame::Opcode};
    ///
    /// let mut encoder = Encoder::with_deflater(Deflater::new(15, false), 5);
    /// let mut output = Vec::new();
    /// encoder.encode(Opcode::Text, b"Hello", None, &mut output).unwrap();
    /// encoder.encode(Opcode::Text, b"Hello", None, &mut output).unwrap();
    /// encoder.encode(Opcode::Text, b"Hi", None, &mut output).unwrap();
    /// // RFC 7692, sections 7.2.3.1 and 7.2.3.2; and a message that is under the threshold.
    /// assert_eq!(output[..9], *b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00");
    /// assert_eq!(output[9..], *b"\xc1\x05\xf2\x00\x11\x00\x00\x81\x02Hi");
    /// ```
    #[cfg(feature = "deflate")]
    pub fn with_deflater(deflater: Deflater, threshold: usize) -> Self {
        Self { compression: Some(Compression { deflater, threshold }) }
    }

    /// Appends a frame to `output`: a whole message, or a control frame. A client has to mask it,
    /// with a `key` that nobody can predict (RFC 6455, section 5.3); a server must not.
    ///
    /// The payload is not looked at: see [`check_payload`](crate::frame::check_payload).
    ///
    /// # Errors
    ///
    /// That it is a control frame and too long, or that there is no memory. `output` is as it was
    /// then.
    pub fn encode(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        key: Option<[u8; 4]>,
        output: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let length = payload.len() as u64;
        Header { fin: true, reserved: 0, opcode, key, length }.check()?;
        let start = output.len();
        let result = self.append(opcode, payload, key, output);
        if result.is_err() {
            output.truncate(start);
        }
        Ok(result?)
    }

    /// The bytes that it holds besides its own size.
    pub fn allocated(&self) -> usize {
        #[cfg(feature = "deflate")]
        let allocated = self.compression.as_ref().map_or(0, |it| it.deflater.allocated());
        #[cfg(not(feature = "deflate"))]
        let allocated = 0;
        allocated
    }

    fn append(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        key: Option<[u8; 4]>,
        output: &mut Vec<u8>,
    ) -> Result<(), TryReserveError> {
        #[cfg(feature = "deflate")]
        if self.append_compressed(opcode, payload, key, output)? {
            return Ok(());
        }
        let length = payload.len() as u64;
        let (header, size) = Header { fin: true, reserved: 0, opcode, key, length }.encode();
        output.try_reserve(size + payload.len())?;
        output.extend_from_slice(&header[..size]);
        output.extend_from_slice(payload);
        if let Some(key) = key {
            let start = output.len() - payload.len();
            unmask(&mut output[start..], key, 0);
        }
        Ok(())
    }

    /// Whether it has; if not, `output` is as it was.
    #[cfg(feature = "deflate")]
    fn append_compressed(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        key: Option<[u8; 4]>,
        output: &mut Vec<u8>,
    ) -> Result<bool, TryReserveError> {
        let Some(Compression { deflater, threshold }) = &mut self.compression else {
            return Ok(false);
        };
        if opcode.is_control() || payload.is_empty() || payload.len() < *threshold {
            return Ok(false);
        }
        // The header's size is not known before the payload's. Once that is compressed, nothing must
        // fail: the next message may refer to it.
        let start = output.len();
        let payload_start = start + Header::MAX_SIZE;
        output.try_reserve(Header::MAX_SIZE)?;
        output.resize(payload_start, 0);
        deflater.deflate(payload, output)?;
        let length = output.len() - payload_start;
        if length >= payload.len() && deflater.no_context_takeover() {
            output.truncate(start);
            return Ok(false);
        }
        if let Some(key) = key {
            unmask(&mut output[payload_start..], key, 0);
        }
        let header =
            Header { fin: true, reserved: PER_MESSAGE, opcode, key, length: length as u64 };
        let (header, size) = header.encode();
        output[start..start + size].copy_from_slice(&header[..size]);
        output.copy_within(payload_start.., start + size);
        output.truncate(start + size + length);
        Ok(true)
    }
}

/// Why there is no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// It would violate the protocol.
    Protocol(ProtocolError),
    /// There was no memory for it.
    Memory(TryReserveError),
}

impl From<ProtocolError> for EncodeError {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl From<TryReserveError> for EncodeError {
    fn from(error: TryReserveError) -> Self {
        Self::Memory(error)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(error) => error.fmt(formatter),
            Self::Memory(error) => error.fmt(formatter),
        }
    }
}

impl Error for EncodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Protocol(error) => error,
            Self::Memory(error) => error,
        })
    }
}
