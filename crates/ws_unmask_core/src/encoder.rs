//! A sans-IO encoder: messages in, bytes out.

use crate::error::{ProtocolError, Violation};
use crate::frame::{Header, Opcode};
use crate::unmask;
#[cfg(feature = "deflate")]
use crate::{deflate::Deflater, rules::PER_MESSAGE};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

/// Encodes the messages of one connection, in one direction, each as one frame.
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
    /// An encoder for the frames of a connection, which start right after the handshake.
    pub fn new() -> Self {
        Self::default()
    }

    /// An encoder that compresses messages of `threshold` bytes or more. Without context takeover, a
    /// message that compression does not shorten is sent uncompressed.
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

    /// Appends a frame to `output`: a whole message, or a control frame. A client has to mask it with
    /// an unpredictable `key` (RFC 6455, section 5.3); a server must not.
    ///
    /// The payload is not checked: see [`check_payload`](crate::frame::check_payload).
    ///
    /// # Errors
    ///
    /// If the opcode is not a message's, if a control frame is too long, or if there is not enough
    /// memory. `output` is then unchanged.
    pub fn encode(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        key: Option<[u8; 4]>,
        output: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let Prepared { header, compressed } = self.prepare(opcode, payload, key)?;
        let payload = compressed.as_deref().unwrap_or(payload);
        let (bytes, size) = header.encode();
        if let Err(error) = output.try_reserve(size + payload.len()) {
            self.forget();
            return Err(error.into());
        }
        output.extend_from_slice(&bytes[..size]);
        output.extend_from_slice(payload);
        if let Some(key) = key {
            let start = output.len() - payload.len();
            unmask(&mut output[start..], key, 0);
        }
        Ok(())
    }

    /// [`encode`](Self::encode) for callers that write the frame to another type of memory. It must be
    /// sent, since the next message may refer to it; if it cannot be, call [`forget`](Self::forget).
    ///
    /// # Errors
    ///
    /// As for [`encode`](Self::encode).
    #[inline]
    pub fn prepare(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        key: Option<[u8; 4]>,
    ) -> Result<Prepared, EncodeError> {
        let length = payload.len() as u64;
        let header = Header { fin: true, reserved: 0, opcode, key, length };
        header.check()?;
        if opcode == Opcode::Continuation {
            return Err(ProtocolError::new(Violation::UnexpectedContinuation, 0).into());
        }
        #[cfg(feature = "deflate")]
        if let Some(compression) = &mut self.compression
            && !opcode.is_control()
            && let Some(compressed) = compression.compress(payload)?
        {
            let length = compressed.len() as u64;
            let header = Header { reserved: PER_MESSAGE, length, ..header };
            return Ok(Prepared { header, compressed: Some(compressed) });
        }
        Ok(Prepared { header, compressed: None })
    }

    /// Makes the next message independent of those before it.
    pub fn forget(&mut self) {
        #[cfg(feature = "deflate")]
        if let Some(compression) = &mut self.compression {
            compression.deflater.forget();
        }
    }

    /// The heap memory it uses, in bytes.
    pub fn allocated(&self) -> usize {
        #[cfg(feature = "deflate")]
        let allocated = self.compression.as_ref().map_or(0, |it| it.deflater.allocated());
        #[cfg(not(feature = "deflate"))]
        let allocated = 0;
        allocated
    }
}

#[cfg(feature = "deflate")]
impl Compression {
    /// `None` for a message that is sent uncompressed.
    fn compress(&mut self, payload: &[u8]) -> Result<Option<Vec<u8>>, TryReserveError> {
        if payload.is_empty() || payload.len() < self.threshold {
            return Ok(None);
        }
        let mut compressed = Vec::new();
        self.deflater.deflate(payload, &mut compressed)?;
        let is_shorter = compressed.len() < payload.len();
        Ok((is_shorter || !self.deflater.no_context_takeover()).then_some(compressed))
    }
}

/// A frame to write: `header`, then the payload, which has to be masked if the header has a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The bytes before the payload.
    pub header: Header,
    /// The compressed payload; `None` if the payload is the message itself.
    pub compressed: Option<Vec<u8>>,
}

/// Why encoding failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// It would violate the protocol.
    Protocol(ProtocolError),
    /// There was not enough memory for it.
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
