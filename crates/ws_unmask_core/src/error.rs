//! Violations in a stream of frames: what, where, and the close code to send.

use core::error::Error;
use core::fmt;

/// The peer has violated RFC 6455, or exceeded a limit. Send the close [`code`](Self::code) and close
/// the connection (section 7.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolError {
    /// What is wrong.
    pub kind: Violation,
    /// The position of the wrong byte: in the stream for a [`Decoder`](crate::Decoder), in the buffer
    /// for a [`Frame`](crate::Frame). It does not depend on the size of the chunks: byte by byte,
    /// this is the byte that is refused. In a compressed message that cannot be inflated, it is the
    /// start of the frame's payload.
    pub offset: u64,
}

impl ProtocolError {
    pub(crate) const fn new(kind: Violation, offset: u64) -> Self {
        Self { kind, offset }
    }

    /// The same, with an offset that counts from `bytes` earlier.
    pub(crate) const fn moved_by(self, bytes: u64) -> Self {
        Self { offset: self.offset + bytes, ..self }
    }

    /// The close code to send (RFC 6455, section 7.4.1): 1002 for a violation of the protocol, 1007
    /// for invalid UTF-8 or DEFLATE, 1009 for a frame or message that is too big.
    pub const fn code(&self) -> u16 {
        match self.kind {
            Violation::InvalidUtf8 | Violation::InvalidDeflate => 1007,
            Violation::FrameTooBig { .. } | Violation::MessageTooBig { .. } => 1009,
            _ => 1002,
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at byte {})", self.kind, self.offset)
    }
}

impl Error for ProtocolError {}

/// What is wrong with a frame. Sections are those of RFC 6455.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// A frame without a masking key where one is required (section 5.1).
    NotMasked,
    /// A frame with a masking key where none is allowed (section 5.1).
    Masked,
    /// Reserved bits that were not negotiated, or not for such a frame: RSV1 is 4, RSV2 is
    /// 2, RSV3 is 1 (5.2; for RSV1 also RFC 7692, section 6).
    ReservedBits(u8),
    /// An undefined opcode: 3 to 7, or 11 to 15 (5.2).
    ReservedOpcode(u8),
    /// A control frame with this opcode that is a fragment (5.5).
    FragmentedControlFrame(u8),
    /// A control frame with this opcode of over 125 bytes (5.5).
    LongControlFrame(u8),
    /// A continuation frame when no message has started (5.4).
    UnexpectedContinuation,
    /// A new message before the end of the previous one (5.4).
    UnfinishedMessage,
    /// A length that does not use the shortest form (5.2).
    LengthNotMinimal(u64),
    /// A 64-bit length whose top bit is set (5.2).
    LengthTooLarge(u64),
    /// A close frame with a payload of one byte: half a close code (5.5.1).
    CloseFrameOfOneByte,
    /// A close code that is not one to be sent (7.4).
    CloseCode(u16),
    /// Text, or the reason in a close frame, that is not valid UTF-8 (8.1).
    InvalidUtf8,
    /// A compressed message that is not valid DEFLATE, or ends inside a block (RFC 7692, section 7.2.2).
    InvalidDeflate,
    /// A frame whose payload exceeds [`Rules::max_frame_size`](crate::Rules::max_frame_size).
    FrameTooBig {
        /// The length in the frame's header, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A message that exceeds [`Rules::max_message_size`](crate::Rules::max_message_size).
    MessageTooBig {
        /// The bytes of the message so far, including the frame whose header was read last; for a
        /// compressed message, the limit plus 1.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMasked => write!(formatter, "frame is not masked"),
            Self::Masked => write!(formatter, "frame is masked"),
            Self::ReservedBits(bits) => write!(
                formatter,
                "reserved bits are set: RSV1 = {}, RSV2 = {}, RSV3 = {}",
                bits >> 2 & 1,
                bits >> 1 & 1,
                bits & 1
            ),
            Self::ReservedOpcode(opcode) => write!(formatter, "opcode {opcode} is reserved"),
            Self::FragmentedControlFrame(opcode) => {
                write!(formatter, "control frame (opcode {opcode}) is fragmented")
            }
            Self::LongControlFrame(opcode) => {
                write!(formatter, "control frame (opcode {opcode}) is over 125 bytes")
            }
            Self::UnexpectedContinuation => {
                write!(formatter, "continuation frame without a message to continue")
            }
            Self::UnfinishedMessage => {
                write!(formatter, "new message before the end of the previous one")
            }
            Self::LengthNotMinimal(length) => {
                write!(formatter, "length {length} is not in its shortest form")
            }
            Self::LengthTooLarge(length) => {
                write!(formatter, "length {length} has its top bit set")
            }
            Self::CloseFrameOfOneByte => write!(formatter, "close frame has only one byte"),
            Self::CloseCode(code) => write!(formatter, "close code {code} must not be sent"),
            Self::InvalidUtf8 => write!(formatter, "text is not valid UTF-8"),
            Self::InvalidDeflate => write!(formatter, "message is not valid DEFLATE"),
            Self::FrameTooBig { size, limit } => {
                write!(formatter, "frame of {size} bytes is over the limit of {limit}")
            }
            Self::MessageTooBig { size, limit } => {
                write!(formatter, "message of {size} bytes or more is over the limit of {limit}")
            }
        }
    }
}

/// Text that is not valid UTF-8. `?` makes it a [`DecodeError`].
///
/// It is small, so that a result with it is returned in registers: one of a [`ProtocolError`] goes
/// through memory, which took a third of the time of a short message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidUtf8 {
    /// The byte that made it so, counted from the start of the payload.
    pub offset: u64,
}

impl From<InvalidUtf8> for ProtocolError {
    fn from(error: InvalidUtf8) -> Self {
        Self::new(Violation::InvalidUtf8, error.offset)
    }
}

impl<E> From<InvalidUtf8> for DecodeError<E> {
    fn from(error: InvalidUtf8) -> Self {
        Self::Protocol(error.into())
    }
}

/// Why decoding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError<E> {
    /// It violates the protocol.
    Protocol(ProtocolError),
    /// There was not enough memory for it.
    Memory(E),
}

impl<E> DecodeError<E> {
    /// The same, with an offset that counts from `bytes` earlier.
    #[must_use]
    pub fn moved_by(self, bytes: u64) -> Self {
        match self {
            Self::Protocol(error) => Self::Protocol(error.moved_by(bytes)),
            Self::Memory(_) => self,
        }
    }
}

impl<E> From<ProtocolError> for DecodeError<E> {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl<E: fmt::Display> fmt::Display for DecodeError<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(error) => error.fmt(formatter),
            Self::Memory(error) => error.fmt(formatter),
        }
    }
}

impl<E: Error + 'static> Error for DecodeError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Protocol(error) => error,
            Self::Memory(error) => error,
        })
    }
}
