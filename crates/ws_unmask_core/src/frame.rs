//! A frame's header: how it is parsed and written, and the rules that it can be held to by itself
//! (RFC 6455, section 5.2).

use crate::payload::Expected;
use crate::{Fault, Masked, Payload, PayloadError};

/// What a frame is, and what a message is made of.
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

    /// Whether it is one of a control frame: close, ping or pong.
    pub const fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// The reserved bits of a frame, as they stand in its first byte: RSV1 is 4, RSV2 is 2, RSV3 is 1.
pub type Reserved = u8;

/// What is in front of a frame's payload.
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

/// The rules for headers that are not the same for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether every frame has to be masked: yes for a server, no for a client.
    pub require_mask: bool,
    /// The reserved bits that extensions have been given.
    pub allow_reserved: Reserved,
}

impl Header {
    /// The longest header, in bytes.
    pub const MAX_SIZE: usize = 14;

    /// How many bytes the header has whose second byte is `second`.
    ///
    /// ```
    /// # use ws_unmask_core::frame::Header;
    /// assert_eq!(Header::size(0x85), 6); // masked, 5 bytes of payload
    /// assert_eq!(Header::size(0x7f), 10); // not masked, a length of 8 bytes
    /// ```
    pub const fn size(second: u8) -> usize {
        let key = if second & 0x80 != 0 { 4 } else { 0 };
        match second & 0x7f {
            126 => 4 + key,
            127 => 10 + key,
            _ => 2 + key,
        }
    }

    /// The payload of this frame, of which `masked` is all.
    ///
    /// A text is checked only if it is whole: a fragment may begin or end within a character, and
    /// with a reserved bit it is for an extension to decode.
    ///
    /// # Errors
    ///
    /// [`Fault::InvalidUtf8`], or that there is no memory for it.
    #[inline]
    pub fn payload<P: Payload>(&self, masked: &[u8]) -> Result<P, PayloadError<P::Error>> {
        let is_text = self.opcode == Opcode::Text && self.fin && self.reserved == 0;
        let expected = if is_text { Expected::Text { validate: true } } else { Expected::Bytes };
        P::unmask(Masked::new(masked, self.key.unwrap_or_default(), expected))
    }

    /// Parses the header at the start of `bytes`: the header and its size in bytes, or `None` if
    /// more bytes are needed.
    ///
    /// A fault is found by the byte that it is in, whether or not the header is complete.
    ///
    /// ```
    /// use ws_unmask_core::frame::{Header, Opcode, Rules};
    ///
    /// let rules = Rules { require_mask: true, allow_reserved: 0 };
    /// let (header, size) = Header::parse(&[0x81, 0x85, 1, 2, 3, 4], &rules).unwrap().unwrap();
    /// assert_eq!((header.opcode, header.fin, header.length, size), (Opcode::Text, true, 5, 6));
    /// assert_eq!(header.key, Some([1, 2, 3, 4]));
    /// ```
    #[inline]
    pub fn parse(bytes: &[u8], rules: &Rules) -> Result<Option<(Self, usize)>, Fault> {
        let Some((&first, bytes)) = bytes.split_first() else { return Ok(None) };
        let (fin, reserved, opcode) = first_byte(first, rules)?;
        let Some((&second, bytes)) = bytes.split_first() else { return Ok(None) };
        let masked = second & 0x80 != 0;
        if rules.require_mask && !masked {
            return Err(Fault::NotMasked);
        }
        let short = second & 0x7f;
        if opcode.is_control() && short > 125 {
            return Err(Fault::LongControlFrame(opcode as u8));
        }
        let Some((length, bytes, length_size)) = length(short, bytes)? else { return Ok(None) };
        let (key, key_size) = match (masked, bytes.first_chunk::<4>()) {
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
            0..=125 => bytes[1] = mask_bit | self.length as u8,
            126..=0xffff => {
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

#[inline(always)]
fn first_byte(byte: u8, rules: &Rules) -> Result<(bool, Reserved, Opcode), Fault> {
    let (fin, reserved, number) = (byte & 0x80 != 0, byte >> 4 & 7, byte & 0x0f);
    if reserved & !rules.allow_reserved != 0 {
        return Err(Fault::ReservedBits(reserved));
    }
    let opcode = Opcode::new(number).ok_or(Fault::ReservedOpcode(number))?;
    if opcode.is_control() && !fin {
        return Err(Fault::FragmentedControlFrame(number));
    }
    Ok((fin, reserved, opcode))
}

/// A length, what follows it, and how many bytes it took besides the short one.
type Length<'a> = (u64, &'a [u8], usize);

#[inline(always)]
fn length(short: u8, bytes: &[u8]) -> Result<Option<Length<'_>>, Fault> {
    let (length, bytes, size, minimum) = match short {
        126 => {
            let Some((&length, bytes)) = bytes.split_first_chunk() else { return Ok(None) };
            (u16::from_be_bytes(length).into(), bytes, 2, 126)
        }
        127 => {
            let Some((&length, bytes)) = bytes.split_first_chunk() else { return Ok(None) };
            (u64::from_be_bytes(length), bytes, 8, 0x1_0000)
        }
        _ => return Ok(Some((short.into(), bytes, 0))),
    };
    if length < minimum {
        return Err(Fault::LengthNotMinimal(length));
    }
    if length >> 63 != 0 {
        return Err(Fault::LengthTooLarge(length));
    }
    Ok(Some((length, bytes, size)))
}

/// Whether a peer may send `code` in a close frame: the codes that are defined, without those that
/// only stand for something that was not sent (RFC 6455, section 7.4, and IANA's registry).
pub const fn is_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
