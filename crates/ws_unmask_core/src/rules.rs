//! Rules and limits for what a peer may send.

/// The reserved bits of a frame, as they stand in its first byte: RSV1 is 4, RSV2 is 2, RSV3 is 1.
pub type Reserved = u8;

/// The bit of RSV1, RSV2 or RSV3; `None` for any other number.
///
/// ```
/// # use ws_unmask_core::reserved_bit;
/// assert_eq!([0, 1, 2, 3, 4].map(reserved_bit), [None, Some(4), Some(2), Some(1), None]);
/// ```
pub const fn reserved_bit(number: u8) -> Option<Reserved> {
    match number {
        1..=3 => Some(8 >> number),
        _ => None,
    }
}

/// RSV1, which marks the first frame of a compressed message (RFC 7692).
pub(crate) const PER_MESSAGE: Reserved = 4;

/// Whether frames have to be masked: a client masks all of its frames, a server none, and the
/// receiver refuses other frames (RFC 6455, section 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Masking {
    /// Accepts only masked frames, as a server does.
    #[default]
    Required,
    /// Accepts only unmasked frames, as a client does.
    Forbidden,
    /// All.
    Either,
}

/// What a [`Decoder`](crate::Decoder) or [`Frame::parse`](crate::Frame::parse) accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether frames have to be masked. Default: required, as for a server.
    pub masking: Masking,
    /// The reserved bits that extensions have negotiated. RSV1 may then be set on the first frame of
    /// a message, and nowhere else (RFC 7692, section 6). Text with a reserved bit is not checked,
    /// because an extension still has to decode it. Default: none.
    pub allow_reserved: Reserved,
    /// Whether text has to be valid UTF-8. Default: true (RFC 6455, section 8.1).
    pub validate_utf8: bool,
    /// The maximum bytes of a data frame's payload. Default: only the message's limit.
    pub max_frame_size: u64,
    /// The maximum bytes of a message, over all of its fragments, after inflating. Default: 64 MiB.
    pub max_message_size: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            masking: Masking::Required,
            allow_reserved: 0,
            validate_utf8: true,
            max_frame_size: u64::MAX,
            max_message_size: 64 << 20,
        }
    }
}
