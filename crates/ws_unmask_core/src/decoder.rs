//! A sans-IO decoder: bytes in, messages out.

use crate::error::{DecodeError, ProtocolError, Violation};
use crate::frame::{Frame, Header, MessageState, Opcode, expected};
use crate::inflation::Inflation;
use crate::payload::{Expected, Payload};
use crate::reassembly::Reassembly;
use crate::rules::{PER_MESSAGE, Reserved, Rules};
use crate::unmask::unmask_into;
use crate::{MaskedPayload, close};
use alloc::boxed::Box;
use alloc::collections::TryReserveError;

/// What a peer has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<P> {
    /// Text: valid UTF-8 unless a reserved bit is set or [`Rules::validate_utf8`] is off.
    Text {
        /// All of its fragments, joined.
        payload: P,
        /// The reserved bits of its first frame.
        reserved: Reserved,
    },
    /// Any bytes.
    Binary {
        /// All of its fragments, joined.
        payload: P,
        /// The reserved bits of its first frame.
        reserved: Reserved,
    },
    /// Reply with a pong that has the same payload, of at most 125 bytes.
    Ping(P),
    /// The reply to a ping, or unsolicited.
    Pong(P),
    /// The last message: everything after it is discarded (RFC 6455, section 5.5.1).
    Close {
        /// The code, if there is one.
        code: Option<u16>,
        /// The reason, in UTF-8, of at most 123 bytes.
        reason: P,
    },
}

/// Decodes the frames of one connection, in one direction.
///
/// It accepts input in chunks of any size and returns messages: fragments are joined; control
/// frames are returned as they arrive, even between the fragments of a message.
///
/// ```
/// use ws_unmask_core::{DecodeError, Decoder, Message, Rules, Violation};
///
/// let mut decoder = Decoder::new(Rules::default());
/// // The masked "Hello" of RFC 6455, section 5.7, and the start of an unmasked frame.
/// let mut input: &[u8] = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\x81\x05";
/// let message = decoder.next(&mut input).unwrap();
/// assert_eq!(message, Some(Message::Text { payload: b"Hello".to_vec(), reserved: 0 }));
///
/// let Err(DecodeError::Protocol(error)) = decoder.next::<Vec<u8>>(&mut input) else { panic!() };
/// assert_eq!((error.kind, error.offset, error.code()), (Violation::NotMasked, 12, 1002));
/// ```
#[derive(Debug)]
pub struct Decoder {
    rules: Rules,
    state: State,
    /// How many bytes of the stream were consumed.
    used: u64,
    /// The first bytes of a header that is not complete yet.
    header: [u8; Header::MAX_SIZE],
    header_len: u8,
    /// The frame whose payload is not complete yet.
    started: Option<Started>,
    /// The payload of a control frame, which may come between the pieces of a message.
    control: [u8; 125],
    /// The message that is not complete yet.
    message: Option<Unfinished>,
    /// Inflates messages with RSV1, if compression was negotiated.
    inflation: Option<Box<Inflation>>,
}

#[derive(Debug)]
enum State {
    Open,
    Closed,
    Failed(ProtocolError),
}

#[derive(Clone, Copy, Debug)]
struct Started {
    header: Header,
    /// How many bytes of the payload were consumed.
    received: usize,
}

#[derive(Debug)]
struct Unfinished {
    is_text: bool,
    is_compressed: bool,
    /// The reserved bits, without RSV1 if the decoder inflates the message.
    reserved: Reserved,
    reassembly: Reassembly,
}

/// A message, or `None` if there is none yet. Allocation errors are those of the payload's type.
type Decoded<P> = Result<Option<Message<P>>, DecodeError<<P as Payload>::Error>>;

impl Decoder {
    /// A decoder for the frames of a connection, which start right after the handshake.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            state: State::Open,
            used: 0,
            header: [0; Header::MAX_SIZE],
            header_len: 0,
            started: None,
            control: [0; 125],
            message: None,
            inflation: None,
        }
    }

    /// A decoder for a connection that has negotiated compression: it inflates messages with RSV1, and
    /// returns them without that bit. They are inflated and checked as they arrive, and never beyond
    /// [`Rules::max_message_size`].
    ///
    /// ```
    /// use ws_unmask_core::{Decoder, Message, Rules, deflate::Inflater};
    ///
    /// let mut decoder = Decoder::with_inflater(Rules::default(), Inflater::default());
    /// // The compressed "Hello" of RFC 7692, section 7.2.3.1, masked with zeros.
    /// let mut input: &[u8] = b"\xc1\x87\0\0\0\0\xf2\x48\xcd\xc9\xc9\x07\0";
    /// let message = decoder.next(&mut input).unwrap();
    /// assert_eq!(message, Some(Message::Text { payload: b"Hello".to_vec(), reserved: 0 }));
    /// ```
    #[cfg(feature = "deflate")]
    pub fn with_inflater(mut rules: Rules, inflater: crate::deflate::Inflater) -> Self {
        rules.allow_reserved |= PER_MESSAGE;
        let inflation = Inflation::new(inflater, rules.max_message_size);
        Self { inflation: Some(Box::new(inflation)), ..Self::new(rules) }
    }

    /// Returns the next message in `input` and removes what it has consumed. Returns `None` if all of
    /// `input` is consumed and no message is complete.
    ///
    /// # Errors
    ///
    /// A [`ProtocolError`]: every later call returns it again and discards all of `input`. Or an
    /// allocation error: the decoder is still in step with the stream, and can continue with the
    /// rest of `input`.
    #[inline]
    pub fn next<P: Payload>(&mut self, input: &mut &[u8]) -> Decoded<P> {
        let result = self.advance(input);
        if let Err(DecodeError::Protocol(error)) = result {
            self.state = State::Failed(error);
            (self.message, self.inflation) = (None, None);
            *input = &[];
        }
        result
    }

    /// Whether a close frame was received.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The violation that this decoder has found, if any.
    pub fn error(&self) -> Option<ProtocolError> {
        match self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The bytes of the message that is not complete yet.
    pub fn unfinished(&self) -> usize {
        self.message.as_ref().map_or(0, |message| message.reassembly.len())
    }

    /// The heap memory it uses, in bytes.
    pub fn allocated(&self) -> usize {
        let message = self.message.as_ref().map_or(0, |message| message.reassembly.capacity());
        message + self.inflation.as_ref().map_or(0, |it| size_of_val(&**it) + it.allocated())
    }

    #[inline]
    fn advance<P: Payload>(&mut self, input: &mut &[u8]) -> Decoded<P> {
        match self.state {
            State::Open => {}
            State::Closed => {
                *input = &[];
                return Ok(None);
            }
            State::Failed(error) => return Err(error.into()),
        }
        if input.is_empty() {
            return Ok(None);
        }
        // Most messages are one frame that is complete in `input`. This fast path is separate, with
        // values that nothing else writes to: shared with other frames, it takes twice as long.
        if self.started.is_none()
            && self.header_len == 0
            && self.message.is_none()
            && let Ok(Some(frame)) = Frame::begin(input, &self.rules, MessageState::Between)
            && frame.is_whole()
            && is_message(&frame.header)
            && !self.is_compressed(&frame.header)
        {
            return self.whole_message(frame, input).map(Some);
        }
        self.advance_by_pieces(input)
    }

    #[inline(never)]
    fn advance_by_pieces<P: Payload>(&mut self, input: &mut &[u8]) -> Decoded<P> {
        loop {
            let started = match self.started {
                Some(started) => started,
                None if self.header_len == 0 => {
                    let frame = self.begin(input).map_err(|error| error.moved_by(self.used))?;
                    let Some(frame) = frame else {
                        self.keep_header(input);
                        return Ok(None);
                    };
                    self.use_bytes(frame.header_size(), input);
                    Started { header: frame.header, received: 0 }
                }
                None => match self.complete_header(input)? {
                    Some(header) => Started { header, received: 0 },
                    None => return Ok(None),
                },
            };
            self.started = Some(started);
            let message = if started.header.opcode.is_control() {
                self.control_frame(started, input)?
            } else {
                self.fragment(started, input)?
            };
            if message.is_some() || self.started.is_some() {
                return Ok(message);
            }
        }
    }

    #[inline(always)]
    fn message_state(&self) -> MessageState {
        match &self.message {
            None => MessageState::Between,
            Some(message) => MessageState::Unfinished { size: message.reassembly.len() as u64 },
        }
    }

    /// The frame at the start of `bytes`.
    fn begin<'a>(&self, bytes: &'a [u8]) -> Result<Option<Frame<'a>>, ProtocolError> {
        match Frame::begin(bytes, &self.rules, self.message_state()) {
            Ok(frame) => Ok(frame),
            Err(error) => self.begin_compressed(bytes, error),
        }
    }

    /// A frame that was refused because of the limit for messages, which applies to the inflated size
    /// of compressed ones.
    #[cold]
    fn begin_compressed<'a>(
        &self,
        bytes: &'a [u8],
        error: ProtocolError,
    ) -> Result<Option<Frame<'a>>, ProtocolError> {
        let is_compressed = match &self.message {
            Some(message) => message.is_compressed,
            None => bytes.first().is_some_and(|byte| byte >> 4 & PER_MESSAGE != 0),
        };
        match error.kind {
            Violation::MessageTooBig { .. } if is_compressed && self.inflation.is_some() => {
                let rules = Rules { max_message_size: u64::MAX, ..self.rules };
                Frame::begin(bytes, &rules, self.message_state())
            }
            _ => Err(error),
        }
    }

    /// Whether a message that starts with this header has to be inflated.
    #[inline(always)]
    fn is_compressed(&self, header: &Header) -> bool {
        header.reserved & PER_MESSAGE != 0 && self.inflation.is_some()
    }

    /// Removes the next `count` bytes from `input` and returns them.
    #[inline(always)]
    fn use_bytes<'a>(&mut self, count: usize, input: &mut &'a [u8]) -> &'a [u8] {
        let (bytes, rest) = input.split_at(count);
        *input = rest;
        self.used += count as u64;
        bytes
    }

    /// A message of one frame, which is complete in `input`.
    #[inline(always)]
    fn whole_message<P: Payload>(
        &mut self,
        frame: Frame<'_>,
        input: &mut &[u8],
    ) -> Result<Message<P>, DecodeError<P::Error>> {
        let Header { opcode, reserved, .. } = frame.header;
        let expected = expected(opcode, reserved, self.rules.validate_utf8);
        let payload = frame.payload_as(expected).map_err(|error| error.moved_by(self.used))?;
        self.use_bytes(frame.size(), input);
        Ok(message(opcode == Opcode::Text, payload, reserved))
    }

    /// An incomplete header is shorter than the longest one, so there is room for it.
    fn keep_header(&mut self, input: &mut &[u8]) {
        let bytes = self.use_bytes(input.len(), input);
        self.header[usize::from(self.header_len)..][..bytes.len()].copy_from_slice(bytes);
        self.header_len += bytes.len() as u8;
    }

    /// The header that starts in the kept bytes, once it is complete.
    fn complete_header(&mut self, input: &mut &[u8]) -> Result<Option<Header>, ProtocolError> {
        let mut bytes = self.header;
        let kept = usize::from(self.header_len);
        let more = input.len().min(bytes.len() - kept);
        bytes[kept..][..more].copy_from_slice(&input[..more]);
        let begin = self.used - kept as u64;
        let parsed = self.begin(&bytes[..kept + more]).map_err(|error| error.moved_by(begin))?;
        let Some(frame) = parsed else {
            self.keep_header(input);
            return Ok(None);
        };
        self.use_bytes(frame.header_size() - kept, input);
        self.header_len = 0;
        Ok(Some(frame.header))
    }

    /// Removes what belongs to `started` from `input`, and returns whether the frame is complete.
    fn take<'a>(&mut self, started: Started, input: &mut &'a [u8]) -> (&'a [u8], bool) {
        let missing = started.header.length - started.received as u64;
        let is_end = missing <= input.len() as u64;
        let piece = self.use_bytes(if is_end { missing as usize } else { input.len() }, input);
        let received = started.received + piece.len();
        self.started = (!is_end).then_some(Started { received, ..started });
        (piece, is_end)
    }

    fn control_frame<P: Payload>(&mut self, started: Started, input: &mut &[u8]) -> Decoded<P> {
        let Started { header, received } = started;
        let (piece, is_end) = self.take(started, input);
        unmask_into(
            &mut self.control[received..][..piece.len()],
            piece,
            header.key.unwrap_or_default(),
            received,
        );
        if !is_end {
            return Ok(None);
        }
        let plain = &self.control[..header.length as usize];
        Ok(Some(match header.opcode {
            Opcode::Ping => Message::Ping(copied(plain, Expected::Bytes)?),
            Opcode::Pong => Message::Pong(copied(plain, Expected::Bytes)?),
            _ => {
                let message = self.close(plain.len())?;
                self.state = State::Closed;
                (self.message, self.inflation) = (None, None);
                message
            }
        }))
    }

    /// A close frame is checked when it is complete, so the error is at its last byte.
    fn close<P: Payload>(&self, length: usize) -> Result<Message<P>, DecodeError<P::Error>> {
        let refused = |kind| ProtocolError::new(kind, self.used - 1);
        let (code, reason) = close::parse(&self.control[..length]).map_err(refused)?;
        let reason = copied(reason, Expected::Text { validate: true });
        let reason = reason.map_err(|error| match error {
            DecodeError::Protocol(error) => refused(error.kind).into(),
            DecodeError::Memory(_) => error,
        })?;
        Ok(Message::Close { code, reason })
    }

    fn fragment<P: Payload>(&mut self, started: Started, input: &mut &[u8]) -> Decoded<P> {
        let mut unfinished = match self.message.take() {
            Some(unfinished) => unfinished,
            None => self.begin_message(&started.header),
        };
        let (before, used) = (*input, self.used);
        let (piece, is_end) = self.take(started, input);
        let payload_start = used - started.received as u64;
        let mut masked = piece;
        if let Err(error) = self.append(&mut unfinished, &mut masked, &started) {
            return Err(match error {
                DecodeError::Protocol(error) => error.moved_by(payload_start).into(),
                DecodeError::Memory(error) => {
                    let appended = piece.len() - masked.len();
                    (*input, self.used) = (&before[appended..], used + appended as u64);
                    let received = started.received + appended;
                    self.started = Some(Started { received, ..started });
                    self.message = Some(unfinished);
                    DecodeError::Memory(error.into())
                }
            });
        }
        if !(is_end && started.header.fin) {
            self.message = Some(unfinished);
            return Ok(None);
        }
        let Unfinished { is_text, is_compressed, reserved, reassembly } = unfinished;
        let payload = match &mut self.inflation {
            Some(inflation) if is_compressed => {
                inflation.finish(reassembly).map_err(|error| error.moved_by(payload_start))?
            }
            _ => {
                let (plain, content) = reassembly
                    .finish()
                    .map_err(|_| ProtocolError::new(Violation::InvalidUtf8, self.used - 1))?;
                P::assembled(plain, content).map_err(DecodeError::Memory)?
            }
        };
        Ok(Some(message(is_text, payload, reserved)))
    }

    fn begin_message(&mut self, header: &Header) -> Unfinished {
        let is_compressed = self.is_compressed(header);
        let reserved = if is_compressed { header.reserved & !PER_MESSAGE } else { header.reserved };
        let expected = expected(header.opcode, reserved, self.rules.validate_utf8);
        let reassembly = match &mut self.inflation {
            Some(inflation) if is_compressed => inflation.reassembly(expected),
            _ => Reassembly::new(expected),
        };
        Unfinished { is_text: header.opcode == Opcode::Text, is_compressed, reserved, reassembly }
    }

    /// Appends the plain bytes of `masked`, and removes what it has consumed. An error's offset counts
    /// from the start of the frame's payload.
    fn append(
        &mut self,
        message: &mut Unfinished,
        masked: &mut &[u8],
        started: &Started,
    ) -> Result<(), DecodeError<TryReserveError>> {
        let (key, received) = (started.header.key.unwrap_or_default(), started.received);
        match &mut self.inflation {
            Some(inflation) if message.is_compressed => {
                inflation.append(&mut message.reassembly, masked, key, received)
            }
            _ => {
                message
                    .reassembly
                    .append(masked, key, received)
                    .map_err(|error| error.moved_by(received as u64))?;
                *masked = &[];
                Ok(())
            }
        }
    }
}

/// Whether the frame is all of a message.
#[inline(always)]
fn is_message(header: &Header) -> bool {
    header.fin && !header.opcode.is_control()
}

#[inline(always)]
fn message<P>(is_text: bool, payload: P, reserved: Reserved) -> Message<P> {
    if is_text {
        Message::Text { payload, reserved }
    } else {
        Message::Binary { payload, reserved }
    }
}

/// A payload of plain bytes: a key of zeros changes nothing.
fn copied<P: Payload>(plain: &[u8], expected: Expected) -> Result<P, DecodeError<P::Error>> {
    P::unmask(MaskedPayload::new(plain, [0; 4], expected))
}
