//! Bytes in, messages out: a decoder that reads from nothing and waits for nothing.

use crate::Fault;
use crate::frame::{Header, Opcode, Reserved, Rules, is_close_code};
use crate::payload::{Assembly, Expected, Masked, Payload, PayloadError};
use crate::unmask::unmask_into;

/// What a [`Decoder`] is to accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether frames have to be masked. Default: yes, as for a server (RFC 6455, section 5.1).
    pub require_mask: bool,
    /// The reserved bits that extensions have been given (RSV1 is 4, RSV2 is 2, RSV3 is 1). A text
    /// that has one set is not checked, for an extension has still to decode it. Default: none.
    pub allow_reserved: Reserved,
    /// Whether texts have to be UTF-8. Default: yes (RFC 6455, section 8.1).
    pub validate_utf8: bool,
    /// The most bytes that a frame of data may have. Default: no limit but that of the message.
    pub max_frame_size: u64,
    /// The most bytes that a message may have, over all of its fragments. Default: 64 MiB.
    pub max_message_size: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            require_mask: true,
            allow_reserved: 0,
            validate_utf8: true,
            max_frame_size: u64::MAX,
            max_message_size: 64 << 20,
        }
    }
}

/// What a peer has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<P> {
    /// A text, valid UTF-8 unless a reserved bit is set or nobody wanted it to be checked.
    Text {
        /// All of its fragments, put together.
        payload: P,
        /// The reserved bits of its first frame.
        reserved: Reserved,
    },
    /// Any bytes.
    Binary {
        /// All of its fragments, put together.
        payload: P,
        /// The reserved bits of its first frame.
        reserved: Reserved,
    },
    /// To be answered by a pong with the same payload, of at most 125 bytes.
    Ping(P),
    /// The answer to a ping, or sent unasked.
    Pong(P),
    /// The end: what comes after it is discarded (RFC 6455, section 5.5.1).
    Close {
        /// The code, if there is any.
        code: Option<u16>,
        /// The reason, UTF-8, of at most 123 bytes.
        reason: P,
    },
}

/// Decodes the frames of one connection, in one direction.
///
/// It takes the bytes as they come, cut anywhere, and gives back messages: fragments are put
/// together, control frames come out when they come in, also between the fragments of a message.
///
/// ```
/// use ws_unmask_core::{Decoder, Fault, Message, Options, PayloadError};
///
/// let mut decoder = Decoder::new(Options::default());
/// // The masked "Hello" of RFC 6455, section 5.7, and the start of an unmasked frame.
/// let mut input: &[u8] = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\x81\x05";
/// let message = decoder.next(&mut input).unwrap();
/// assert_eq!(message, Some(Message::Text { payload: b"Hello".to_vec(), reserved: 0 }));
/// let fault = decoder.next::<Vec<u8>>(&mut input).unwrap_err();
/// assert_eq!(fault, PayloadError::Fault(Fault::NotMasked));
/// assert_eq!(Fault::NotMasked.code(), 1002);
/// ```
#[derive(Debug)]
pub struct Decoder {
    options: Options,
    state: State,
    /// The first bytes of a header whose others have not come yet.
    header: [u8; Header::MAX_SIZE],
    header_len: u8,
    /// The frame whose payload has not come to its end.
    frame: Option<Frame>,
    /// The payload of a control frame, which may come between the pieces of a message.
    control: [u8; 125],
    /// The message whose frames have not come to their end.
    message: Option<Unfinished>,
}

#[derive(Debug)]
enum State {
    Open,
    Closed,
    Failed(Fault),
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    header: Header,
    /// Bytes of the payload that have come.
    received: usize,
}

#[derive(Debug)]
struct Unfinished {
    is_text: bool,
    reserved: Reserved,
    assembly: Assembly,
}

impl Decoder {
    /// A decoder at the start of a connection's frames, right behind the handshake.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            state: State::Open,
            header: [0; Header::MAX_SIZE],
            header_len: 0,
            frame: None,
            control: [0; 125],
            message: None,
        }
    }

    /// The next message in `input`, from which it takes what it has used; `None` if all of `input`
    /// is used and no message has come to its end.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the peer, for the rest of the decoder's life, in which all of `input` is
    /// discarded; or what went wrong when memory was asked for, upon which the decoder can go on with
    /// what is left of `input`.
    #[inline]
    pub fn next<P: Payload>(
        &mut self,
        input: &mut &[u8],
    ) -> Result<Option<Message<P>>, PayloadError<P::Error>> {
        let result = self.advance(input);
        if let Err(PayloadError::Fault(fault)) = result {
            self.state = State::Failed(fault);
            self.message = None;
            *input = &[];
        }
        result
    }

    /// Whether a close frame has come.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The bytes that it holds besides its own size.
    pub fn allocated(&self) -> usize {
        self.message.as_ref().map_or(0, |message| message.assembly.capacity())
    }

    #[inline]
    fn advance<P: Payload>(
        &mut self,
        input: &mut &[u8],
    ) -> Result<Option<Message<P>>, PayloadError<P::Error>> {
        match self.state {
            State::Open => {}
            State::Closed => {
                *input = &[];
                return Ok(None);
            }
            State::Failed(fault) => return Err(fault.into()),
        }
        loop {
            let frame = match self.frame {
                Some(frame) => frame,
                None => match self.read_header(input)? {
                    Some(header) => Frame { header, received: 0 },
                    None => return Ok(None),
                },
            };
            self.frame = Some(frame);
            let message = if frame.header.opcode.is_control() {
                self.control_frame(frame, input)?
            } else {
                self.data_frame(frame, input)?
            };
            if message.is_some() || self.frame.is_some() {
                return Ok(message);
            }
        }
    }

    #[inline]
    fn read_header(&mut self, input: &mut &[u8]) -> Result<Option<Header>, Fault> {
        let rules = Rules {
            require_mask: self.options.require_mask,
            allow_reserved: self.options.allow_reserved,
        };
        let parsed = if self.header_len == 0 {
            Header::parse(input, &rules)?
        } else {
            self.parse_cut_header(input, &rules)?
        };
        let Some((header, size)) = parsed else {
            self.keep_header(input);
            return Ok(None);
        };
        *input = &input[size..];
        self.header_len = 0;
        self.check(&header)?;
        Ok(Some(header))
    }

    /// The header that begins in what was kept, and how many bytes of `input` belong to it.
    fn parse_cut_header(
        &self,
        input: &[u8],
        rules: &Rules,
    ) -> Result<Option<(Header, usize)>, Fault> {
        let mut header = self.header;
        let kept = usize::from(self.header_len);
        let more = input.len().min(header.len() - kept);
        header[kept..][..more].copy_from_slice(&input[..more]);
        let parsed = Header::parse(&header[..kept + more], rules)?;
        Ok(parsed.map(|(header, size)| (header, size - kept)))
    }

    /// An incomplete header is shorter than the longest one, so there is room for it.
    fn keep_header(&mut self, input: &mut &[u8]) {
        self.header[usize::from(self.header_len)..][..input.len()].copy_from_slice(input);
        self.header_len += input.len() as u8;
        *input = &[];
    }

    /// The rules that depend on what came before, and the limits.
    #[inline]
    fn check(&self, header: &Header) -> Result<(), Fault> {
        if header.opcode.is_control() {
            return Ok(());
        }
        let limits = &self.options;
        let mut size = header.length;
        match (&self.message, header.opcode) {
            (None, Opcode::Continuation) => return Err(Fault::UnexpectedContinuation),
            (None, _) => {}
            (Some(message), Opcode::Continuation) => size += message.assembly.len() as u64,
            (Some(_), _) => return Err(Fault::UnfinishedMessage),
        }
        if header.length > limits.max_frame_size {
            return Err(Fault::FrameTooBig { size: header.length, limit: limits.max_frame_size });
        }
        if size > limits.max_message_size {
            return Err(Fault::MessageTooBig { size, limit: limits.max_message_size });
        }
        Ok(())
    }

    /// Takes from `input` what belongs to `frame`, and says whether that is its end.
    #[inline]
    fn take<'a>(&mut self, frame: Frame, input: &mut &'a [u8]) -> (&'a [u8], bool) {
        let missing = frame.header.length - frame.received as u64;
        let piece;
        if missing <= input.len() as u64 {
            (piece, *input) = input.split_at(missing as usize);
            self.frame = None;
            (piece, true)
        } else {
            (piece, *input) = (*input, &[]);
            self.frame = Some(Frame { received: frame.received + piece.len(), ..frame });
            (piece, false)
        }
    }

    fn control_frame<P: Payload>(
        &mut self,
        frame: Frame,
        input: &mut &[u8],
    ) -> Result<Option<Message<P>>, PayloadError<P::Error>> {
        let key = frame.header.key.unwrap_or_default();
        let (piece, is_end) = self.take(frame, input);
        let place = &mut self.control[frame.received..][..piece.len()];
        unmask_into(place, piece, key, frame.received);
        if !is_end {
            return Ok(None);
        }
        let plain = &self.control[..frame.header.length as usize];
        let message = match frame.header.opcode {
            Opcode::Ping => Message::Ping(copied(plain, Expected::Bytes)?),
            Opcode::Pong => Message::Pong(copied(plain, Expected::Bytes)?),
            _ => {
                let message = close(plain)?;
                self.state = State::Closed;
                self.message = None;
                message
            }
        };
        Ok(Some(message))
    }

    #[inline]
    fn data_frame<P: Payload>(
        &mut self,
        frame: Frame,
        input: &mut &[u8],
    ) -> Result<Option<Message<P>>, PayloadError<P::Error>> {
        let Header { fin, reserved, opcode, key, length } = frame.header;
        let key = key.unwrap_or_default();
        let is_whole = fin && self.message.is_none() && length <= input.len() as u64;
        if is_whole {
            let (masked, rest) = input.split_at(length as usize);
            let is_text = opcode == Opcode::Text;
            let payload = P::unmask(Masked::new(masked, key, self.expected(is_text, reserved)))?;
            self.frame = None;
            *input = rest;
            return Ok(Some(message(is_text, payload, reserved)));
        }
        self.fragment(frame, key, input)
    }

    fn fragment<P: Payload>(
        &mut self,
        frame: Frame,
        key: [u8; 4],
        input: &mut &[u8],
    ) -> Result<Option<Message<P>>, PayloadError<P::Error>> {
        let Header { fin, reserved, opcode, .. } = frame.header;
        let mut unfinished = self.message.take().unwrap_or_else(|| {
            let is_text = opcode == Opcode::Text;
            let assembly = Assembly::new(self.expected(is_text, reserved));
            Unfinished { is_text, reserved, assembly }
        });
        let before = *input;
        let (piece, is_end) = self.take(frame, input);
        if let Err(error) = unfinished.assembly.append(piece, key, frame.received) {
            return Err(match error {
                PayloadError::Fault(fault) => fault.into(),
                PayloadError::Memory(error) => {
                    (self.frame, self.message, *input) = (Some(frame), Some(unfinished), before);
                    PayloadError::Memory(error.into())
                }
            });
        }
        if !(is_end && fin) {
            self.message = Some(unfinished);
            return Ok(None);
        }
        let (plain, content) = unfinished.assembly.finish()?;
        let payload = P::assembled(plain, content).map_err(PayloadError::Memory)?;
        Ok(Some(message(unfinished.is_text, payload, unfinished.reserved)))
    }

    #[inline(always)]
    fn expected(&self, is_text: bool, reserved: Reserved) -> Expected {
        if is_text && reserved == 0 {
            Expected::Text { validate: self.options.validate_utf8 }
        } else {
            Expected::Bytes
        }
    }
}

#[inline(always)]
fn message<P>(is_text: bool, payload: P, reserved: Reserved) -> Message<P> {
    if is_text {
        Message::Text { payload, reserved }
    } else {
        Message::Binary { payload, reserved }
    }
}

/// A payload of bytes that have been unmasked already: a key of zeros changes nothing.
fn copied<P: Payload>(plain: &[u8], expected: Expected) -> Result<P, PayloadError<P::Error>> {
    P::unmask(Masked::new(plain, [0; 4], expected))
}

/// RFC 6455, section 5.5.1: nothing, or a code of two bytes and a reason in UTF-8.
fn close<P: Payload>(plain: &[u8]) -> Result<Message<P>, PayloadError<P::Error>> {
    let (code, reason) = match plain {
        [] => (None, plain),
        [_] => return Err(Fault::CloseFrameOfOneByte.into()),
        [high, low, reason @ ..] => (Some(u16::from_be_bytes([*high, *low])), reason),
    };
    if let Some(code) = code.filter(|&code| !is_close_code(code)) {
        return Err(Fault::CloseCode(code).into());
    }
    Ok(Message::Close { code, reason: copied(reason, Expected::Text { validate: true })? })
}
