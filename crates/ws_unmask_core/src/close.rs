//! The payload of a close frame (RFC 6455, section 5.5.1).

use crate::error::Violation;

/// Takes apart the plain payload of a close frame: the code, if there is one, and the bytes of the
/// reason. Whether the reason is UTF-8 remains to be checked.
pub(crate) fn parse(payload: &[u8]) -> Result<(Option<u16>, &[u8]), Violation> {
    match payload {
        [] => Ok((None, payload)),
        [_] => Err(Violation::CloseFrameOfOneByte),
        [high, low, reason @ ..] => match u16::from_be_bytes([*high, *low]) {
            code if is_close_code(code) => Ok((Some(code), reason)),
            code => Err(Violation::CloseCode(code)),
        },
    }
}

/// Whether a peer may send `code` in a close frame: the codes that are defined, without those that
/// only stand for something that was not sent (RFC 6455, section 7.4, and IANA's registry).
pub const fn is_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
