//! How far the message has come that a frame may continue.

use super::Header;

/// How far the message has come that a frame may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// Nothing is known of what came before: every data frame is in order.
    Unknown,
    /// No message has begun: the next data frame begins one.
    Between,
    /// A message of `size` bytes so far: the next data frame continues it.
    Unfinished {
        /// In bytes.
        size: u64,
    },
}

impl MessageState {
    /// How far it has come after a frame that was in order.
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
