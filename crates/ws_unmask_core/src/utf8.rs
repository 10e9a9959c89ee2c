//! UTF-8, checked piece by piece: a code point may be cut anywhere.

pub(crate) mod vectors;

use crate::text::Invalid;

/// The code point in which the text so far ends, if it is not complete: its first one to three bytes,
/// which end where these four do. The bytes before them are zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut([u8; 4]);

impl Cut {
    /// From `last`, the last four bytes of text that is valid as far as two bytes that follow each
    /// other can tell.
    pub(crate) fn at_the_end(last: [u8; 4]) -> Result<Self, Invalid> {
        Ok(Self(match last {
            [.., 0xc0 | 0xc1 | 0xf5..=0xff] => return Err(Invalid),
            [.., d @ 0xc0..=0xff] => [0, 0, 0, d],
            [.., c @ 0xe0..=0xff, d] => [0, 0, c, d],
            [_, b @ 0xf0..=0xff, c, d] => [0, b, c, d],
            _ => [0; 4],
        }))
    }

    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0 == [0; 4]
    }

    #[inline(always)]
    pub(crate) fn bytes(self) -> [u8; 4] {
        self.0
    }

    fn len(self) -> usize {
        self.0.iter().filter(|&&byte| byte != 0).count()
    }

    /// Checks the next piece with the standard library. A byte that makes the text invalid is found
    /// in the piece it is in.
    pub(crate) fn check(self, piece: &[u8]) -> Result<Self, Invalid> {
        if self.is_none() {
            return complete(piece);
        }
        let cut = self.len();
        let wanted = match self.0[4 - cut] {
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        };
        let (end, rest) = piece.split_at(piece.len().min(wanted - cut));
        let mut code_point = [0; 4];
        code_point[..cut].copy_from_slice(&self.0[4 - cut..]);
        code_point[cut..][..end.len()].copy_from_slice(end);
        let cut = complete(&code_point[..cut + end.len()])?;
        if cut.is_none() { complete(rest) } else { Ok(cut) }
    }
}

/// The code point in which `text` is cut, if all before it is valid.
fn complete(text: &[u8]) -> Result<Cut, Invalid> {
    let Err(error) = core::str::from_utf8(text) else { return Ok(Cut::default()) };
    if error.error_len().is_some() {
        return Err(Invalid);
    }
    let start = &text[error.valid_up_to()..];
    let mut cut = [0; 4];
    cut[4 - start.len()..].copy_from_slice(start);
    Ok(Cut(cut))
}

/// The byte that makes `plain` invalid, looked for from `from` on: the bytes before it are valid, but
/// may end in a part of a code point. For error messages, thus only as fast as is convenient.
#[cold]
pub(crate) fn first_invalid(plain: &[u8], from: usize) -> Option<usize> {
    let is_continuation = |byte: &u8| byte & 0xc0 == 0x80;
    let back = from.saturating_sub(3);
    let start = back + plain[back..from].iter().take_while(|byte| is_continuation(byte)).count();
    let error = core::str::from_utf8(&plain[start..]).err()?;
    let at = start + error.valid_up_to();
    Some(match (plain[at], error.error_len()) {
        // It cannot begin a code point; any other byte can, and what follows does not fit.
        (0x80..=0xc1 | 0xf5.., _) => at,
        (_, Some(fitting)) => at + fitting,
        (_, None) => plain.len() - 1,
    })
}

#[cfg(test)]
mod tests;
