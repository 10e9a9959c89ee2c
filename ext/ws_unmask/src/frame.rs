//! `WsUnmask::Frame`.

use crate::arguments::{
    Keyword, limit, offset, optional_key, required_if, reserved, string, with_keywords, wrong_type,
};
use crate::error::{cannot_be_sent, decode_error, protocol_error};
use crate::ruby_memory::{self, NoMemory, RubyString, catching_jumps, gc_guard, with_bytes};
use crate::types;
use magnus::{
    DataTypeFunctions, Error, RClass, RModule, RString, Ruby, TypedData, Value,
    encoding::{Coderange, EncodingCapable},
    gc, method,
    prelude::*,
    typed_data::Obj,
    value::{Lazy, LazyId, Opaque},
};
use ws_unmask_core::frame::{self, Frame as CoreFrame, Header, Opcode};
use ws_unmask_core::{DecodeError, Rules, reserved_bit};

/// Larger payloads are read in pieces, so that memory grows with the data received and not with what
/// a header promises.
const PIECE: usize = 64 << 10;

/// The payload of a short frame is read along with the rest of its header.
const SHORT_FRAME: usize = Header::MAX_SIZE + 125;

#[derive(TypedData)]
#[magnus(class = "WsUnmask::Frame", free_immediately, mark, size)]
struct Frame {
    header: Header,
    size: u64,
    payload: Opaque<RString>,
}

impl DataTypeFunctions for Frame {
    fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.payload);
    }
}

impl Frame {
    fn has_reserved(&self, number: u8) -> bool {
        reserved_bit(number).is_some_and(|bit| self.header.reserved & bit != 0)
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Frame", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("read", method!(read, -1))?;
    class.define_singleton_method("decode", method!(decode, -1))?;
    class.define_singleton_method("encode", method!(encode, -1))?;
    class.define_method("fin?", method!(|frame: &Frame| frame.header.fin, 0))?;
    class.define_method("opcode", method!(|frame: &Frame| frame.header.opcode as u8, 0))?;
    class.define_method("type", method!(kind, 0))?;
    class.define_method("rsv1?", method!(|frame: &Frame| frame.has_reserved(1), 0))?;
    class.define_method("rsv2?", method!(|frame: &Frame| frame.has_reserved(2), 0))?;
    class.define_method("rsv3?", method!(|frame: &Frame| frame.has_reserved(3), 0))?;
    class.define_method("masked?", method!(|frame: &Frame| frame.header.key.is_some(), 0))?;
    class.define_method("payload", method!(payload, 0))?;
    class.define_method("size", method!(|frame: &Frame| frame.size, 0))
}

fn read(ruby: &Ruby, class: RClass, arguments: &[Value]) -> Result<Option<Obj<Frame>>, Error> {
    let ([io], [size, mask, reserved]) =
        with_keywords(ruby, arguments, [&MAX_FRAME_SIZE, &REQUIRE_MASK, &ALLOW_RESERVED])?;
    let rules = rules(ruby, size, mask, reserved)?;
    let io = Source::new(ruby, io)?;
    let Some(first) = io.read_byte()? else { return Ok(None) };
    let refused = |error| protocol_error(ruby, error);
    let mut bytes = [0; SHORT_FRAME];
    bytes[0] = first;
    // If the first bytes are wrong, do not wait for more.
    Header::parse(&bytes[..1], &rules).map_err(refused)?;
    bytes[1] = io.read_byte()?.ok_or_else(|| ended(ruby))?;
    let mut len = 2;
    loop {
        let missing = Header::missing(&bytes[..len], &rules).map_err(refused)?;
        match Header::parse(&bytes[..len], &rules).map_err(refused)? {
            Some((header, size)) if (len - size) as u64 == header.length => {
                let payload = decoded(header, &bytes[size..len]);
                let payload = payload.map_err(|error| decode_error(ruby, error))?;
                return wrap(ruby, class, header, payload).map(Some);
            }
            Some((header, _)) => {
                let payload = io.read_payload(header)?;
                return wrap(ruby, class, header, payload).map(Some);
            }
            None => {
                let rest = io.read_at_most(missing as usize)?;
                with_bytes(rest, |rest| bytes[len..][..rest.len()].copy_from_slice(rest));
                len += rest.len();
                if (rest.len() as u64) < missing {
                    Header::parse(&bytes[..len], &rules).map_err(refused)?;
                    return Err(ended(ruby));
                }
            }
        }
    }
}

fn decode(ruby: &Ruby, class: RClass, arguments: &[Value]) -> Result<Option<Obj<Frame>>, Error> {
    let names = [&MAX_FRAME_SIZE, &REQUIRE_MASK, &ALLOW_RESERVED, &OFFSET];
    let ([bytes], [size, mask, reserved, start]) = with_keywords(ruby, arguments, names)?;
    let rules = rules(ruby, size, mask, reserved)?;
    let start = start.map_or(Ok(0), |start| offset(ruby, start))?;
    let bytes = string(ruby, bytes, "string")?;
    if bytes.len() <= start {
        return Ok(None);
    }
    let decoded = catching_jumps(|| {
        with_bytes(bytes, |bytes| {
            let Some(frame) = CoreFrame::parse(&bytes[start..], &rules)? else { return Ok(None) };
            Ok(Some((frame.header, frame.payload::<RubyString>()?)))
        })
    })?;
    let moved = |error: DecodeError<NoMemory>| decode_error(ruby, error.moved_by(start as u64));
    let (header, payload) = decoded.map_err(moved)?.ok_or_else(|| ended(ruby))?;
    wrap(ruby, class, header, payload).map(Some)
}

static MAX_FRAME_SIZE: Keyword = Lazy::new(|ruby| ruby.sym_new("max_frame_size"));
static REQUIRE_MASK: Keyword = Lazy::new(|ruby| ruby.sym_new("require_mask"));
static ALLOW_RESERVED: Keyword = Lazy::new(|ruby| ruby.sym_new("allow_reserved"));
static OFFSET: Keyword = Lazy::new(|ruby| ruby.sym_new("offset"));
static MASK: Keyword = Lazy::new(|ruby| ruby.sym_new("mask"));
static FIN: Keyword = Lazy::new(|ruby| ruby.sym_new("fin"));
static RESERVED: Keyword = Lazy::new(|ruby| ruby.sym_new("reserved"));

/// The rules of `Frame.read` and `Frame.decode`. The defaults are those of a server.
#[inline]
fn rules(
    ruby: &Ruby,
    max_frame_size: Option<Value>,
    require_mask: Option<Value>,
    allow_reserved: Option<Value>,
) -> Result<Rules, Error> {
    let default = Rules::default();
    Ok(Rules {
        max_frame_size: match max_frame_size {
            Some(size) => limit(ruby, size, "max_frame_size")?,
            None => default.max_message_size,
        },
        masking: require_mask.map_or(default.masking, required_if),
        allow_reserved: match allow_reserved {
            Some(numbers) => reserved(ruby, numbers, "allow_reserved")?,
            None => default.allow_reserved,
        },
        ..default
    })
}

fn encode(ruby: &Ruby, _: RClass, arguments: &[Value]) -> Result<Value, Error> {
    let ([kind, payload], [mask, fin, bits]) =
        with_keywords(ruby, arguments, [&MASK, &FIN, &RESERVED])?;
    let opcode = types::opcode(ruby, kind)?;
    let payload = payload_of(ruby, opcode, payload)?;
    let header = Header {
        fin: fin.is_none_or(|fin| fin.to_bool()),
        reserved: bits.map_or(Ok(0), |bits| reserved(ruby, bits, "reserved"))?,
        opcode,
        key: mask.map_or(Ok(None), |mask| optional_key(ruby, mask))?,
        length: payload.len() as u64,
    };
    header.check().map_err(|error| cannot_be_sent(ruby, error))?;
    check_payload(ruby, &header, payload)?;
    ruby_memory::framed(header, payload)
}

/// The payload to send: a String, or for a close frame a `WsUnmask::Close`.
pub fn payload_of(ruby: &Ruby, opcode: Opcode, payload: Value) -> Result<RString, Error> {
    match opcode {
        Opcode::Close => close_payload(ruby, payload),
        _ => string(ruby, payload, "payload"),
    }
}

fn close_payload(ruby: &Ruby, payload: Value) -> Result<RString, Error> {
    if let Some(string) = RString::from_value(payload) {
        return Ok(string);
    }
    static TO_PAYLOAD: LazyId = LazyId::new("to_payload");
    let id = LazyId::get_inner_with(&TO_PAYLOAD, ruby);
    if !payload.respond_to(id, false)? {
        return Err(wrong_type(ruby, "payload", "a String or a WsUnmask::Close", payload));
    }
    payload.funcall(id, ())
}

/// Refuses what a receiver would refuse. If Ruby knows a String's code range, it needs no scan.
#[inline]
pub fn check_payload(ruby: &Ruby, header: &Header, payload: RString) -> Result<(), Error> {
    if header.opcode == Opcode::Text {
        let encoding = payload.enc_get();
        let is_utf8 = encoding == ruby.utf8_encindex();
        let may_be = is_utf8 || encoding == ruby.ascii8bit_encindex();
        if !may_be && encoding != ruby.usascii_encindex() {
            return Err(not_utf8(ruby, payload));
        }
        let known = payload.enc_coderange();
        if known == Coderange::SevenBit || is_utf8 && known == Coderange::Valid {
            return Ok(());
        }
    }
    with_bytes(payload, |payload| frame::check_payload(header, payload))
        .map_err(|error| cannot_be_sent(ruby, error))
}

#[cold]
fn not_utf8(ruby: &Ruby, payload: RString) -> Error {
    let encoding: Result<Value, Error> = payload.funcall("encoding", ());
    let message = match encoding {
        Ok(encoding) => {
            format!("text must be in UTF-8, not {encoding}: use payload.encode(\"UTF-8\")")
        }
        Err(error) => return error,
    };
    Error::new(ruby.exception_arg_error(), message)
}

/// The payload of a frame; `masked` is all of it.
fn decoded(header: Header, masked: &[u8]) -> Result<RubyString, DecodeError<NoMemory>> {
    let frame = CoreFrame::from_parts(header, masked).expect("all of the payload was read");
    catching_jumps(|| frame.payload())
        .unwrap_or_else(|error| Err(DecodeError::Memory(NoMemory::InRuby(error))))
}

fn wrap(
    ruby: &Ruby,
    class: RClass,
    header: Header,
    RubyString(payload): RubyString,
) -> Result<Obj<Frame>, Error> {
    let size = header.size() as u64 + header.length;
    let frame = ruby.obj_wrap_as(Frame { header, size, payload: payload.into() }, class);
    // While the object was allocated, only a Frame on Rust's heap referred to the payload.
    gc_guard(payload);
    Ok(frame)
}

fn kind(ruby: &Ruby, frame: &Frame) -> Value {
    types::symbol(ruby, frame.header.opcode)
}

fn payload(ruby: &Ruby, frame: &Frame) -> RString {
    ruby.get_inner(frame.payload)
}

#[cold]
fn ended(ruby: &Ruby) -> Error {
    Error::new(ruby.exception_eof_error(), "unexpected end of input inside a frame")
}

/// Whatever responds to `getbyte` and `read`.
struct Source<'a> {
    ruby: &'a Ruby,
    io: Value,
}

impl<'a> Source<'a> {
    fn new(ruby: &'a Ruby, io: Value) -> Result<Self, Error> {
        if RString::from_value(io).is_some() {
            let message = "Frame.read takes an IO; use Frame.decode for a String";
            return Err(Error::new(ruby.exception_type_error(), message));
        }
        if io.is_nil() {
            return Err(wrong_type(ruby, "io", "an IO", io));
        }
        Ok(Self { ruby, io })
    }

    fn read_byte(&self) -> Result<Option<u8>, Error> {
        static GETBYTE: LazyId = LazyId::new("getbyte");
        self.io.funcall(LazyId::get_inner_with(&GETBYTE, self.ruby), ())
    }

    fn read(&self, len: usize) -> Result<RString, Error> {
        let bytes = self.read_at_most(len)?;
        if bytes.len() == len { Ok(bytes) } else { Err(ended(self.ruby)) }
    }

    /// That many bytes, or fewer at the end.
    fn read_at_most(&self, len: usize) -> Result<RString, Error> {
        static READ: LazyId = LazyId::new("read");
        let bytes: Option<RString> =
            self.io.funcall(LazyId::get_inner_with(&READ, self.ruby), (len,))?;
        let bytes = bytes.unwrap_or_else(|| self.ruby.str_new(""));
        if bytes.len() > len {
            let message = format!("io.read({len}) has returned {} bytes", bytes.len());
            return Err(Error::new(self.ruby.exception_arg_error(), message));
        }
        Ok(bytes)
    }

    fn read_payload(&self, header: Header) -> Result<RubyString, Error> {
        let payload = if header.length <= PIECE as u64 {
            let masked = self.read(header.length as usize)?;
            with_bytes(masked, |masked| decoded(header, masked))
        } else {
            decoded(header, &self.read_in_pieces(header.length)?)
        };
        payload.map_err(|error| decode_error(self.ruby, error))
    }

    /// Never reads more at once than was received so far.
    fn read_in_pieces(&self, len: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let missing = usize::try_from(len - bytes.len() as u64).unwrap_or(usize::MAX);
            let piece = self.read(missing.min(bytes.len().max(PIECE)))?;
            with_bytes(piece, |piece| {
                bytes.try_reserve(piece.len())?;
                bytes.extend_from_slice(piece);
                Ok(())
            })
            .map_err(|error: std::collections::TryReserveError| {
                decode_error(self.ruby, DecodeError::Memory(error.into()))
            })?;
        }
        Ok(bytes)
    }
}
