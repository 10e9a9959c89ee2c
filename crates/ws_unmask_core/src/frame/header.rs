//! The header of a frame: how it is parsed and written, and its rules.

use super::{MessageState, Opcode};
use crate::error::{ProtocolError, Violation};
use crate::rules::{Masking, PER_MESSAGE, Reserved, Rules};

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether this is the last fragment of its message.
    pub fin: bool,
    /// The reserved bits, which belong to extensions.
    pub reserved: Reserved,
    /// What the frame is.
    pub opcode: Opcode,
    /// The masking key, if the payload is masked.
    pub key: Option<[u8; 4]>,
    /// The payload's length in bytes.
    pub length: u64,
}

/// A control frame's payload is at most this long (RFC 6455, section 5.5).
const MAX_CONTROL_LENGTH: u8 = 125;

impl Header {
    /// The longest header, in bytes.
    pub const MAX_SIZE: usize = 14;

    /// How many bytes to read next, at least, of a frame that begins with `bytes`: the rest of its
    /// header, and of its payload once the length is known; 0 if it is whole. A reader that blocks
    /// can read this much without waiting for a byte behind the frame.
    ///
    /// # Errors
    ///
    /// What is wrong with the header so far.
    ///
    /// ```
    /// use ws_unmask_core::{Rules, frame::Header};
    ///
    /// let rules = Rules::default();
    /// assert_eq!(Header::missing(&[], &rules), Ok(2));
    /// assert_eq!(Header::missing(&[0x81, 0x85], &rules), Ok(4 + 5)); // key and payload
    /// assert_eq!(Header::missing(&[0x81, 0xfe], &rules), Ok(2 + 4)); // length and key
    /// ```
    pub fn missing(bytes: &[u8], rules: &Rules) -> Result<u64, ProtocolError> {
        let (header_size, length) = match Self::parse(bytes, rules)? {
            Some((header, size)) => (size, header.length),
            None => match *bytes {
                [_, second, ..] => match second & 0x7f {
                    length @ 0..126 => (Self::size_of(second), length.into()),
                    _ => (Self::size_of(second), 0),
                },
                _ => (2, 0),
            },
        };
        Ok((header_size as u64).saturating_add(length).saturating_sub(bytes.len() as u64))
    }

    /// The bytes of a header whose second byte is `second`.
    #[inline]
    const fn size_of(second: u8) -> usize {
        let key = if second & 0x80 != 0 { 4 } else { 0 };
        match second & 0x7f {
            126 => 4 + key,
            127 => 10 + key,
            _ => 2 + key,
        }
    }

    /// The bytes that it takes itself.
    pub fn size(&self) -> usize {
        let key = if self.key.is_some() { 4 } else { 0 };
        match self.length {
            0..126 => 2 + key,
            126..0x1_0000 => 4 + key,
            _ => 10 + key,
        }
    }

    /// Whether it may be sent at all: a control frame is never a fragment, and at most 125 bytes
    /// long (RFC 6455, section 5.5); RSV1 belongs to the first frame of a message (RFC 7692, section
    /// 6).
    ///
    /// # Errors
    ///
    /// The violation; the offset is that of the byte of the header that shows it.
    pub fn check(&self) -> Result<(), ProtocolError> {
        let opcode = self.opcode as u8;
        let begins_a_message = matches!(self.opcode, Opcode::Text | Opcode::Binary);
        if self.reserved & PER_MESSAGE != 0 && !begins_a_message {
            return Err(ProtocolError::new(Violation::ReservedBits(self.reserved), 0));
        }
        if self.opcode.is_control() && !self.fin {
            return Err(ProtocolError::new(Violation::FragmentedControlFrame(opcode), 0));
        }
        if self.opcode.is_control() && self.length > MAX_CONTROL_LENGTH.into() {
            return Err(ProtocolError::new(Violation::LongControlFrame(opcode), 1));
        }
        Ok(())
    }

    /// Parses the header at the start of `bytes`: the header and its size in bytes, or `None` if
    /// more bytes are needed.
    ///
    /// # Errors
    ///
    /// What is wrong with the header, whether or not all of it is there.
    pub fn parse(bytes: &[u8], rules: &Rules) -> Result<Option<(Self, usize)>, ProtocolError> {
        Self::parse_next(bytes, rules, MessageState::Unknown)
    }

    /// [`parse`](Self::parse) in a stream. Each violation is found by the byte that makes it one.
    #[inline(always)]
    pub(crate) fn parse_next(
        bytes: &[u8],
        rules: &Rules,
        state: MessageState,
    ) -> Result<Option<(Self, usize)>, ProtocolError> {
        let at = |offset| move |violation| ProtocolError::new(violation, offset);
        let Some((&first, bytes)) = bytes.split_first() else { return Ok(None) };
        let (fin, reserved, opcode) = first_byte(first, rules, state).map_err(at(0))?;
        let Some((&second, bytes)) = bytes.split_first() else { return Ok(None) };
        let masked = second & 0x80 != 0;
        match rules.masking {
            Masking::Required if !masked => return Err(at(1)(Violation::NotMasked)),
            Masking::Forbidden if masked => return Err(at(1)(Violation::Masked)),
            _ => {}
        }
        let short = second & 0x7f;
        if opcode.is_control() && short > MAX_CONTROL_LENGTH {
            return Err(at(1)(Violation::LongControlFrame(opcode as u8)));
        }
        let Some((length, length_size)) = length(short, bytes) else { return Ok(None) };
        check_length(length, length_size, opcode, rules, state)
            .map_err(at(1 + length_size as u64))?;
        let (key, key_size) = match (masked, bytes[length_size..].first_chunk::<4>()) {
            (true, None) => return Ok(None),
            (true, Some(&key)) => (Some(key), 4),
            (false, _) => (None, 0),
        };
        Ok(Some((Self { fin, reserved, opcode, key, length }, 2 + length_size + key_size)))
    }

    /// The header as it is sent, at the start of the array, and its size in bytes. The length is
    /// written in the fewest bytes that hold it.
    ///
    /// ```
    /// use ws_unmask_core::frame::{Header, Opcode};
    ///
    /// let header =
    ///     Header { fin: true, reserved: 0, opcode: Opcode::Binary, key: None, length: 1000 };
    /// let (bytes, size) = header.encode();
    /// assert_eq!(bytes[..size], [0x82, 126, 3, 0xe8]);
    /// ```
    #[inline]
    pub fn encode(&self) -> ([u8; Self::MAX_SIZE], usize) {
        let mut bytes = [0; Self::MAX_SIZE];
        bytes[0] = u8::from(self.fin) << 7 | (self.reserved & 7) << 4 | self.opcode as u8;
        let mask_bit = u8::from(self.key.is_some()) << 7;
        let mut size = 2;
        match self.length {
            0..126 => bytes[1] = mask_bit | self.length as u8,
            126..0x1_0000 => {
                bytes[1] = mask_bit | 126;
                bytes[2..4].copy_from_slice(&(self.length as u16).to_be_bytes());
                size = 4;
            }
            _ => {
                bytes[1] = mask_bit | 127;
                bytes[2..10].copy_from_slice(&self.length.to_be_bytes());
                size = 10;
            }
        }
        if let Some(key) = self.key {
            bytes[size..size + 4].copy_from_slice(&key);
            size += 4;
        }
        (bytes, size)
    }
}

/// The reserved bits that a frame of this opcode may have.
#[inline(always)]
const fn reserved_in(opcode: Opcode, rules: &Rules) -> Reserved {
    match opcode {
        Opcode::Text | Opcode::Binary => rules.allow_reserved,
        _ => rules.allow_reserved & !PER_MESSAGE,
    }
}

#[inline(always)]
fn first_byte(
    byte: u8,
    rules: &Rules,
    state: MessageState,
) -> Result<(bool, Reserved, Opcode), Violation> {
    let (fin, reserved, number) = (byte & 0x80 != 0, byte >> 4 & 7, byte & 0x0f);
    let opcode = Opcode::new(number);
    let allowed = opcode.map_or(rules.allow_reserved, |opcode| reserved_in(opcode, rules));
    if reserved & !allowed != 0 {
        return Err(Violation::ReservedBits(reserved));
    }
    let opcode = opcode.ok_or(Violation::ReservedOpcode(number))?;
    if opcode.is_control() {
        return if fin { Ok((fin, reserved, opcode)) } else { Err(fragmented(number)) };
    }
    match (state, opcode) {
        (MessageState::Between, Opcode::Continuation) => Err(Violation::UnexpectedContinuation),
        (MessageState::Unfinished { .. }, Opcode::Text | Opcode::Binary) => {
            Err(Violation::UnfinishedMessage)
        }
        _ => Ok((fin, reserved, opcode)),
    }
}

#[cold]
fn fragmented(opcode: u8) -> Violation {
    Violation::FragmentedControlFrame(opcode)
}

/// The length, and how many bytes it takes besides the short one.
#[inline(always)]
fn length(short: u8, bytes: &[u8]) -> Option<(u64, usize)> {
    Some(match short {
        126 => (u16::from_be_bytes(*bytes.first_chunk()?).into(), 2),
        127 => (u64::from_be_bytes(*bytes.first_chunk()?), 8),
        _ => (short.into(), 0),
    })
}

/// The form of the length, and the limits for data frames.
#[inline(always)]
fn check_length(
    length: u64,
    length_size: usize,
    opcode: Opcode,
    rules: &Rules,
    state: MessageState,
) -> Result<(), Violation> {
    let minimum = match length_size {
        0 => 0,
        2 => 126,
        _ => 0x1_0000,
    };
    if length < minimum {
        return Err(Violation::LengthNotMinimal(length));
    }
    if length >> 63 != 0 {
        return Err(Violation::LengthTooLarge(length));
    }
    if opcode.is_control() {
        return Ok(());
    }
    if length > rules.max_frame_size {
        return Err(Violation::FrameTooBig { size: length, limit: rules.max_frame_size });
    }
    let size = match state {
        MessageState::Unknown => return Ok(()),
        MessageState::Between => length,
        MessageState::Unfinished { size } => size.saturating_add(length),
    };
    if size > rules.max_message_size {
        return Err(Violation::MessageTooBig { size, limit: rules.max_message_size });
    }
    Ok(())
}
