//! What a frame is (RFC 6455, sections 5.2 and 11.8).

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// The next fragment of the message that has begun.
    Continuation = 0,
    /// UTF-8 text.
    Text = 1,
    /// Any bytes.
    Binary = 2,
    /// The end of the connection.
    Close = 8,
    /// To be answered by a pong.
    Ping = 9,
    /// The answer to a ping.
    Pong = 10,
}

impl Opcode {
    /// The opcode of that number, unless it is reserved.
    #[inline]
    pub const fn new(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Whether it is a control frame's: close, ping or pong.
    #[inline]
    pub const fn is_control(self) -> bool {
        self as u8 >= 8
    }
}
