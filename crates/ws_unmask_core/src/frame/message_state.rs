//! Whether a message has begun that the next frame continues.

use super::Header;

/// Whether a message has begun that the next frame continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// The frames before are not known: every data frame is accepted.
    Unknown,
    /// Between two messages: the next data frame begins one.
    Between,
    /// Inside a message: the next data frame continues it.
    Unfinished {
        /// Bytes of the message so far.
        size: u64,
    },
}

impl MessageState {
    /// The state after a valid frame with this header.
    #[must_use]
    pub const fn after(self, header: &Header) -> Self {
        if header.opcode.is_control() {
            return self;
        }
        match self {
            Self::Unknown => self,
            _ if header.fin => Self::Between,
            Self::Between => Self::Unfinished { size: header.length },
            Self::Unfinished { size } => {
                Self::Unfinished { size: size.saturating_add(header.length) }
            }
        }
    }
}
