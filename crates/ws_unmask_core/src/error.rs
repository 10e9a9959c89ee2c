//! What can be wrong with a stream of frames, and the close code that says so to the peer.

use core::error::Error;
use core::fmt;

/// A violation of RFC 6455 by the peer, or of a limit that was set. The connection is to be failed
/// with [`code`](Self::code) (section 7.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A frame without a masking key where one is required (section 5.1).
    NotMasked,
    /// Reserved bits that no extension has been given: RSV1 is 4, RSV2 is 2, RSV3 is 1 (5.2).
    ReservedBits(u8),
    /// An opcode without a meaning: 3 to 7, or 11 to 15 (5.2).
    ReservedOpcode(u8),
    /// A control frame, with this opcode, that is not final (5.5).
    FragmentedControlFrame(u8),
    /// A control frame, with this opcode, of over 125 bytes (5.5).
    LongControlFrame(u8),
    /// A continuation where no message has begun (5.4).
    UnexpectedContinuation,
    /// A new message before the one before it has ended (5.4).
    UnfinishedMessage,
    /// A length that would have fit a shorter form (5.2).
    LengthNotMinimal(u64),
    /// A 64-bit length whose top bit is set (5.2).
    LengthTooLarge(u64),
    /// A close frame of one byte, which is no code (5.5.1).
    CloseFrameOfOneByte,
    /// A close code that must not be sent (7.4).
    CloseCode(u16),
    /// A text, or the reason in a close frame, that is not UTF-8 (8.1).
    InvalidUtf8,
    /// A frame of more bytes than [`Options::max_frame_size`](crate::Options::max_frame_size).
    FrameTooBig {
        /// The bytes that the frame's header says it has.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A message of more bytes than
    /// [`Options::max_message_size`](crate::Options::max_message_size).
    MessageTooBig {
        /// The bytes of the message's frames so far, the one whose header has come included.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
}

impl Fault {
    /// The close code to send (RFC 6455, section 7.4.1): 1002 for a violation of the protocol, 1007
    /// for broken UTF-8, 1009 for what is too big.
    pub const fn code(self) -> u16 {
        match self {
            Self::InvalidUtf8 => 1007,
            Self::FrameTooBig { .. } | Self::MessageTooBig { .. } => 1009,
            _ => 1002,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMasked => write!(formatter, "frame is not masked"),
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
                write!(formatter, "control frame (opcode {opcode}) has over 125 bytes")
            }
            Self::UnexpectedContinuation => {
                write!(formatter, "continuation frame without a message to continue")
            }
            Self::UnfinishedMessage => {
                write!(formatter, "new message before the end of the one before it")
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
            Self::FrameTooBig { size, limit } => {
                write!(formatter, "frame of {size} bytes is over the limit of {limit}")
            }
            Self::MessageTooBig { size, limit } => {
                write!(formatter, "message of {size} bytes or more is over the limit of {limit}")
            }
        }
    }
}

impl Error for Fault {}
