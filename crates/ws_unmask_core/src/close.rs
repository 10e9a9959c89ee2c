//! The payload of a close frame (RFC 6455, section 5.5.1).

use crate::error::Violation;

/// Splits the plain payload of a close frame into the code, if there is one, and the bytes of the
/// reason. The caller has to check that the reason is UTF-8.
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

/// Whether a peer may send `code` in a close frame: the defined codes, except those reserved for
/// local use (RFC 6455, section 7.4, and IANA's registry).
pub const fn is_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
