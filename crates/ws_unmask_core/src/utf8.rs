//! Checks UTF-8 in pieces, which may end inside a code point.

pub(crate) mod bytes;
pub(crate) mod vectors;

/// The text is not, and cannot become, valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;

/// The code point in which the text so far ends, if it is not complete: the upper bytes are its first
/// one to three, the last of them on top; the others are zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut(Word);

/// Four bytes of text, the last of them on top.
pub(crate) type Word = u32;

impl Cut {
    /// From the `last` bytes of text that is valid as far as two neighbors can tell.
    #[inline(always)]
    pub(crate) fn at_the_end(last: Word) -> Result<Self, Invalid> {
        if last < 0x80 << 24 { Ok(Self(0)) } else { Self::behind_no_ascii(last) }
    }

    fn behind_no_ascii(last: Word) -> Result<Self, Invalid> {
        let [_, b, c, d] = last.to_le_bytes();
        match d {
            0xc0 | 0xc1 | 0xf5.. => Err(Invalid),
            0xc2.. => Ok(Self(last & 0xff00_0000)),
            _ if c >= 0xe0 => Ok(Self(last & 0xffff_0000)),
            _ if b >= 0xf0 => Ok(Self(last & 0xffff_ff00)),
            _ => Ok(Self(0)),
        }
    }

    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    pub(crate) fn word(self) -> Word {
        self.0
    }

    /// The four bytes before `at` in the text that follows, of which `word` gives those from some
    /// place on. What lies before that text is known by its cut only.
    #[inline(always)]
    pub(crate) fn word_before(self, at: usize, word: impl Fn(usize) -> Word) -> Word {
        if at >= 4 {
            return word(at - 4);
        }
        let both = u64::from(self.0) | u64::from(word(0)) << 32;
        (both >> (8 * at)) as Word
    }

    /// Checks the next piece with the standard library. An invalid byte is found in the piece that
    /// contains it.
    pub(crate) fn check(self, piece: &[u8]) -> Result<Self, Invalid> {
        if self.is_none() {
            return complete(piece);
        }
        let missing = self.0.trailing_zeros() as usize / 8;
        let bytes = self.0.to_le_bytes();
        let start = &bytes[missing..];
        let wanted = match start[0] {
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        };
        let (end, rest) = piece.split_at(piece.len().min(wanted - start.len()));
        let mut code_point = [0; 4];
        let len = start.len() + end.len();
        code_point[..start.len()].copy_from_slice(start);
        code_point[start.len()..len].copy_from_slice(end);
        let cut = complete(&code_point[..len])?;
        if cut.is_none() { complete(rest) } else { Ok(cut) }
    }
}

/// The incomplete code point at the end of `text`, if everything before it is valid.
fn complete(text: &[u8]) -> Result<Cut, Invalid> {
    let Err(error) = core::str::from_utf8(text) else { return Ok(Cut::default()) };
    if error.error_len().is_some() {
        return Err(Invalid);
    }
    let start = &text[error.valid_up_to()..];
    let mut cut = [0; 4];
    cut[4 - start.len()..].copy_from_slice(start);
    Ok(Cut(Word::from_le_bytes(cut)))
}

/// The position of the invalid byte in `plain`, at `from` or later: the bytes before `from` are valid,
/// but may end inside a code point. For error messages, so it is not optimized.
#[cold]
pub(crate) fn first_invalid(plain: &[u8], from: usize) -> Option<usize> {
    let is_continuation = |byte: &u8| byte & 0xc0 == 0x80;
    let back = from.saturating_sub(3);
    let start = back + plain[back..from].iter().take_while(|byte| is_continuation(byte)).count();
    let error = core::str::from_utf8(&plain[start..]).err()?;
    let at = start + error.valid_up_to();
    Some(match (plain[at], error.error_len()) {
        // It cannot start a code point. Any other byte can, so the bytes after it are wrong.
        (0x80..=0xc1 | 0xf5.., _) => at,
        (_, Some(fitting)) => at + fitting,
        (_, None) => plain.len() - 1,
    })
}

#[cfg(test)]
mod tests;
