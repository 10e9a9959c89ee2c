//! `WsUnmask::Frame`.

use crate::arguments::{EncodeArguments, PeekArguments, string};
use crate::error::{payload_error, protocol_error};
use crate::options;
use crate::ruby_memory::{self, NoMemory, RubyString, stays_alive_until_here, with_bytes};
use magnus::{
    DataTypeFunctions, Error, RModule, RString, Ruby, Symbol, TypedData, Value,
    encoding::EncodingCapable, function, gc, method, prelude::*, typed_data::Obj, value::LazyId,
    value::Opaque,
};
use ws_unmask_core::frame::{Header, Opcode, Rules};
use ws_unmask_core::{Fault, Options, PayloadError};

/// Payloads over this many bytes are read in pieces, so that memory is taken for what has come and
/// not for what a header has promised.
const PIECE: usize = 64 << 10;

#[derive(TypedData)]
#[magnus(class = "WsUnmask::Frame", free_immediately, mark, size)]
struct Frame {
    header: Header,
    payload: Opaque<RString>,
}

impl DataTypeFunctions for Frame {
    fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.payload);
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Frame", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("read", function!(read, -1))?;
    class.define_singleton_method("decode", function!(decode, -1))?;
    class.define_singleton_method("peek", function!(peek, -1))?;
    class.define_singleton_method("whole_text", function!(whole_text, 2))?;
    class.define_singleton_method("encode", function!(encode, -1))?;
    class.define_method("fin?", method!(|frame: &Frame| frame.header.fin, 0))?;
    class.define_method("opcode", method!(|frame: &Frame| frame.header.opcode as u8, 0))?;
    class.define_method("type", method!(kind, 0))?;
    class.define_method("rsv1?", method!(|frame: &Frame| frame.header.reserved & 4 != 0, 0))?;
    class.define_method("rsv2?", method!(|frame: &Frame| frame.header.reserved & 2 != 0, 0))?;
    class.define_method("rsv3?", method!(|frame: &Frame| frame.header.reserved & 1 != 0, 0))?;
    class.define_method("masked?", method!(|frame: &Frame| frame.header.key.is_some(), 0))?;
    class.define_method("payload", method!(payload, 0))?;
    class.define_method("size", method!(size, 0))
}

fn read(ruby: &Ruby, arguments: &[Value]) -> Result<Option<Obj<Frame>>, Error> {
    let (io, options) = options::of_frame(ruby, arguments)?;
    let io = Source { ruby, io };
    let Some(first) = io.read_byte()? else { return Ok(None) };
    let second = io.read_byte()?.ok_or_else(|| ended(ruby))?;

    // A short payload comes with the rest of its header, a long one by itself.
    let short = usize::from(second & 0x7f);
    let behind = Header::size(second) - 2;
    let payload_too = if short <= 125 { short } else { 0 };
    let mut bytes = [0; Header::MAX_SIZE];
    bytes[..2].copy_from_slice(&[first, second]);
    let fault = |fault| protocol_error(ruby, fault);
    parse(&bytes[..2], &options).map_err(fault)?;
    let rest = io.read(behind + payload_too)?;
    with_bytes(rest, |rest| bytes[2..][..behind].copy_from_slice(&rest[..behind]));
    let parsed = parse(&bytes[..2 + behind], &options).map_err(fault)?;
    let (header, _size) = parsed.ok_or_else(|| ended(ruby))?;

    let payload = if short <= 125 {
        with_bytes(rest, |rest| header.payload(&rest[behind..]))
    } else if header.length <= PIECE as u64 {
        let masked = io.read(header.length as usize)?;
        with_bytes(masked, |masked| header.payload(masked))
    } else {
        header.payload(&io.read_in_pieces(header.length)?)
    };
    frame(ruby, header, payload).map(Some)
}

fn decode(ruby: &Ruby, arguments: &[Value]) -> Result<Option<Obj<Frame>>, Error> {
    let (bytes, options) = options::of_frame(ruby, arguments)?;
    let bytes = string(ruby, bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let decoded = with_bytes(bytes, |bytes| {
        let Some((header, size)) = parse(bytes, &options)? else { return Ok(None) };
        let length = usize::try_from(header.length).unwrap_or(usize::MAX);
        let masked = bytes[size..].get(..length);
        Ok(masked.map(|masked| (header, header.payload(masked))))
    });
    let decoded = decoded.map_err(|fault| protocol_error(ruby, fault))?;
    let (header, payload) = decoded.ok_or_else(|| ended(ruby))?;
    frame(ruby, header, payload).map(Some)
}

fn peek(ruby: &Ruby, arguments: &[Value]) -> Result<Option<Obj<Frame>>, Error> {
    let PeekArguments { bytes, offset, rules } = PeekArguments::parse(ruby, arguments)?;
    let found = with_bytes(bytes, |bytes| {
        let bytes = bytes.get(offset..)?;
        let (header, size) = Header::parse(bytes, &rules).ok()??;
        let masked = bytes[size..].get(..usize::try_from(header.length).ok()?)?;
        Some((header, unless_faulty(header.payload(masked))?))
    });
    found.map(|(header, payload)| frame(ruby, header, payload)).transpose()
}

fn whole_text(ruby: &Ruby, bytes: Value, require_mask: Value) -> Result<Option<RString>, Error> {
    let Some(bytes) = as_read_from_a_socket(ruby, bytes) else { return Ok(None) };
    let rules = Rules { require_mask: require_mask.to_bool(), allow_reserved: 0 };
    let payload = with_bytes(bytes, |bytes| {
        let (header, size) = Header::parse(bytes, &rules).ok()??;
        let is_text = header.fin && header.opcode == Opcode::Text;
        let is_all = (bytes.len() - size) as u64 == header.length;
        if is_text && is_all { unless_faulty(header.payload(&bytes[size..])) } else { None }
    });
    match payload {
        Some(payload) => payload.map(|payload| Some(payload.0)).map_err(|e| payload_error(ruby, e)),
        None => Ok(None),
    }
}

fn as_read_from_a_socket(ruby: &Ruby, bytes: Value) -> Option<RString> {
    let string = RString::from_value(bytes)?;
    let is_binary = string.enc_get() == ruby.ascii8bit_encindex();
    (is_binary && !string.is_frozen()).then_some(string)
}

type Decoded = Result<RubyString, PayloadError<NoMemory>>;

fn unless_faulty(payload: Decoded) -> Option<Decoded> {
    (!matches!(payload, Err(PayloadError::Fault(_)))).then_some(payload)
}

fn encode(ruby: &Ruby, arguments: &[Value]) -> Result<Value, Error> {
    let EncodeArguments { payload, header } = EncodeArguments::parse(ruby, arguments)?;
    ruby_memory::framed(header, payload)
}

fn parse(bytes: &[u8], options: &Options) -> Result<Option<(Header, usize)>, Fault> {
    let rules =
        Rules { require_mask: options.require_mask, allow_reserved: options.allow_reserved };
    let parsed = Header::parse(bytes, &rules)?;
    let limit = options.max_frame_size;
    match parsed {
        Some((Header { length: size, .. }, _)) if size > limit => {
            Err(Fault::FrameTooBig { size, limit })
        }
        _ => Ok(parsed),
    }
}

fn frame(
    ruby: &Ruby,
    header: Header,
    payload: Result<RubyString, PayloadError<NoMemory>>,
) -> Result<Obj<Frame>, Error> {
    let payload = payload.map_err(|error| payload_error(ruby, error))?.0;
    let frame = ruby.obj_wrap(Frame { header, payload: payload.into() });
    // While the object was allocated, its payload was known only to a Frame on Rust's heap.
    stays_alive_until_here(payload);
    Ok(frame)
}

fn kind(ruby: &Ruby, frame: &Frame) -> Symbol {
    ruby.to_symbol(match frame.header.opcode {
        Opcode::Continuation => "continuation",
        Opcode::Text => "text",
        Opcode::Binary => "binary",
        Opcode::Close => "close",
        Opcode::Ping => "ping",
        Opcode::Pong => "pong",
    })
}

fn payload(ruby: &Ruby, frame: &Frame) -> RString {
    ruby.get_inner(frame.payload)
}

fn size(frame: &Frame) -> u64 {
    frame.header.encode().1 as u64 + frame.header.length
}

#[cold]
fn ended(ruby: &Ruby) -> Error {
    Error::new(ruby.exception_eof_error(), "the end came inside of a frame")
}

/// Whatever answers to `getbyte` and `read`.
struct Source<'a> {
    ruby: &'a Ruby,
    io: Value,
}

impl Source<'_> {
    fn read_byte(&self) -> Result<Option<u8>, Error> {
        static GETBYTE: LazyId = LazyId::new("getbyte");
        self.io.funcall(LazyId::get_inner_with(&GETBYTE, self.ruby), ())
    }

    fn read(&self, len: usize) -> Result<RString, Error> {
        static READ: LazyId = LazyId::new("read");
        let bytes: Option<RString> =
            self.io.funcall(LazyId::get_inner_with(&READ, self.ruby), (len,))?;
        bytes.filter(|bytes| bytes.len() == len).ok_or_else(|| ended(self.ruby))
    }

    /// Never more at once than has come already.
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
                payload_error(self.ruby, PayloadError::Memory(error.into()))
            })?;
        }
        Ok(bytes)
    }
}
