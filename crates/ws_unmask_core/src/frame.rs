//! Frames (RFC 6455, section 5.2): the header, and whether a buffer holds a complete, valid frame.

mod header;
mod message_state;
mod opcode;

pub use header::Header;
pub use message_state::MessageState;
pub use opcode::Opcode;

use crate::error::{DecodeError, ProtocolError, Violation};
use crate::payload::{Expected, Payload};
use crate::rules::{Reserved, Rules};
use crate::unmask::unmask_into;
use crate::{MaskedPayload, close, utf8};

/// A frame in a buffer: its header, and its payload, still masked.
///
/// ```
/// use ws_unmask_core::{Frame, Rules, frame::Opcode};
///
/// // The masked "Hello" of RFC 6455, section 5.7, and the start of another frame.
/// let buffer = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\x81";
/// let frame = Frame::parse(buffer, &Rules::default()).unwrap().unwrap();
/// assert_eq!((frame.header.opcode, frame.size()), (Opcode::Text, 11));
/// assert_eq!(frame.payload::<Vec<u8>>().unwrap(), b"Hello");
/// assert_eq!(Frame::parse(&buffer[11..], &Rules::default()), Ok(None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The bytes before the payload.
    pub header: Header,
    header_size: usize,
    masked: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The frame at the start of `bytes`, or `None` if it is incomplete.
    ///
    /// # Errors
    ///
    /// If the header violates the protocol, even if the frame is incomplete. The payload is checked by
    /// [`payload`](Self::payload).
    #[inline(always)]
    pub fn parse(bytes: &'a [u8], rules: &Rules) -> Result<Option<Self>, ProtocolError> {
        Self::parse_next(bytes, rules, MessageState::Unknown)
    }

    /// [`parse`](Self::parse) in a stream: refuses a frame that may not follow the one before it, and
    /// applies the limit for messages.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Self::parse).
    #[inline(always)]
    pub fn parse_next(
        bytes: &'a [u8],
        rules: &Rules,
        state: MessageState,
    ) -> Result<Option<Self>, ProtocolError> {
        let frame = Self::begin(bytes, rules, state)?;
        Ok(frame.filter(Self::is_whole))
    }

    /// [`parse_next`](Self::parse_next), except that the payload may be incomplete.
    #[inline(always)]
    pub(crate) fn begin(
        bytes: &'a [u8],
        rules: &Rules,
        state: MessageState,
    ) -> Result<Option<Self>, ProtocolError> {
        let Some((header, header_size)) = Header::parse_next(bytes, rules, state)? else {
            return Ok(None);
        };
        let rest = &bytes[header_size..];
        let here =
            if header.length <= rest.len() as u64 { header.length as usize } else { rest.len() };
        Ok(Some(Self { header, header_size, masked: &rest[..here] }))
    }

    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.masked.len() as u64 == self.header.length
    }

    /// A frame whose header and masked payload were read one after the other; `None` if the payload
    /// is not of the header's length.
    pub fn from_parts(header: Header, masked: &'a [u8]) -> Option<Self> {
        let frame = Self { header, header_size: header.size(), masked };
        frame.is_whole().then_some(frame)
    }

    /// Its size in the stream in bytes, including the header.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.header_size + self.masked.len()
    }

    #[inline(always)]
    pub(crate) fn header_size(&self) -> usize {
        self.header_size
    }

    /// The payload, unmasked. Text is checked if it is unfragmented: a fragment may begin or end within a
    /// character, and with a reserved bit set an extension still has to decode it.
    ///
    /// # Errors
    ///
    /// [`Violation::InvalidUtf8`], a violation in the content of a close frame, or an allocation
    /// error.
    #[inline(always)]
    pub fn payload<P: Payload>(&self) -> Result<P, DecodeError<P::Error>> {
        let Header { fin, reserved, opcode, .. } = self.header;
        if opcode == Opcode::Close {
            self.check_close()?;
        }
        let expected = if fin { expected(opcode, reserved, true) } else { Expected::Bytes };
        self.payload_as(expected)
    }

    /// A close frame is checked as a whole, so an error is at its last byte.
    #[cold]
    fn check_close(&self) -> Result<(), ProtocolError> {
        let mut plain = [0; 125];
        let plain = &mut plain[..self.masked.len()];
        unmask_into(plain, self.masked, self.header.key.unwrap_or_default(), 0);
        check_payload(&self.header, plain)
            .map_err(|error| ProtocolError::new(error.kind, self.size() as u64 - 1))
    }

    #[inline(always)]
    pub(crate) fn payload_as<P: Payload>(
        &self,
        expected: Expected,
    ) -> Result<P, DecodeError<P::Error>> {
        let key = self.header.key.unwrap_or_default();
        P::unmask(MaskedPayload::new(self.masked, key, expected))
            .map_err(|error| error.moved_by(self.header_size as u64))
    }
}

/// What a message that begins with such a frame has to contain.
#[inline(always)]
pub(crate) fn expected(opcode: Opcode, reserved: Reserved, validate: bool) -> Expected {
    if matches!(opcode, Opcode::Text) && reserved == 0 {
        Expected::Text { validate }
    } else {
        Expected::Bytes
    }
}

/// Checks the plain payload of a frame before it is sent, as a receiver would: text is UTF-8, and a
/// fragment may end within a character; a close frame is empty, or has a close code and a reason in
/// UTF-8.
///
/// # Errors
///
/// What a receiver would refuse; offsets count from the start of the payload.
pub fn check_payload(header: &Header, plain: &[u8]) -> Result<(), ProtocolError> {
    let (text, start) = match header.opcode {
        Opcode::Close => match close::parse(plain) {
            Ok((code, reason)) => (reason, if code.is_some() { 2 } else { 0 }),
            Err(violation) => return Err(ProtocolError::new(violation, 0)),
        },
        Opcode::Text if header.reserved == 0 => (plain, 0),
        _ => return Ok(()),
    };
    let may_be_cut = header.opcode == Opcode::Text && !header.fin;
    if may_be_cut && utf8::Cut::default().check(text).is_ok() {
        return Ok(());
    }
    match utf8::first_invalid(text, 0) {
        None => Ok(()),
        Some(at) => Err(ProtocolError::new(Violation::InvalidUtf8, start + at as u64)),
    }
}
