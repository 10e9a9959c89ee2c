//! `WsUnmask::Encoder`.

use crate::arguments::{in_range, size, string};
use crate::deflate::Agreement;
use crate::error::encode_error;
use crate::ruby_memory::{
    HeldMemory, Key, KnownType, append_frame, catching_jumps, framed_bytes, take_back, with_bytes,
};
use crate::{frame, types};
use core::cell::{Cell, RefCell};
use magnus::{
    DataTypeFunctions, Error, RModule, RString, Ruby, TypedData, Value, method, prelude::*,
    rb_sys::AsRawValue,
};
use ws_unmask_core::Prepared;
use ws_unmask_core::deflate::Deflater;
use ws_unmask_core::frame::Header;

/// The core's encoder, and masking keys for it.
///
/// The core is borrowed only between two calls into Ruby, so a frame is encoded completely before
/// another thread runs.
#[derive(Default, TypedData)]
#[magnus(class = "WsUnmask::Encoder", free_immediately, size)]
struct Encoder {
    core: RefCell<ws_unmask_core::Encoder>,
    masks: Cell<bool>,
    keys: RefCell<Vec<Key>>,
    is_set_up: Cell<bool>,
    held: HeldMemory,
}

static ENCODER: KnownType<Encoder> = KnownType::new();

/// How many masking keys are read from the system's random source at once.
const KEYS: usize = 64;

impl DataTypeFunctions for Encoder {
    fn size(&self) -> usize {
        let core = self.core.try_borrow().map_or(0, |core| core.allocated());
        let keys = self.keys.try_borrow().map_or(0, |keys| keys.capacity());
        size_of::<Self>() + core + keys * size_of::<Key>()
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Encoder", ruby.class_object())?;
    class.define_alloc_func::<Encoder>();
    class.define_private_method("set_up", method!(set_up, 4))?;
    class.define_private_method("initialize_copy", method!(initialize_copy, 1))?;
    class.define_method("encode", method!(encode, 2))?;
    class.define_method("encode_into", method!(encode_into, 3))
}

fn set_up(
    ruby: &Ruby,
    encoder: &Encoder,
    mask: Value,
    deflate: Value,
    threshold: Value,
    level: Value,
) -> Result<(), Error> {
    let threshold = size(ruby, threshold, "threshold", "an Integer of bytes")?;
    let level = in_range(ruby, level, "level", Deflater::LEVELS)?;
    let agreement = Agreement::optional(ruby, &deflate)?;
    if encoder.is_set_up.replace(true) {
        return Err(Error::new(ruby.exception_type_error(), "already initialized"));
    }
    encoder.masks.set(mask.to_bool());
    if let Some(agreement) = agreement {
        let deflater = agreement.deflater().with_level(level);
        let threshold = usize::try_from(threshold).unwrap_or(usize::MAX);
        encoder.core.replace(ws_unmask_core::Encoder::with_deflater(deflater, threshold));
    }
    Ok(())
}

fn initialize_copy(ruby: &Ruby, _: &Encoder, _: Value) -> Result<(), Error> {
    let message = "an encoder cannot be copied: a stream has only one";
    Err(Error::new(ruby.exception_type_error(), message))
}

fn encode(ruby: &Ruby, rb_self: Value, kind: Value, payload: Value) -> Result<Value, Error> {
    ENCODER.get(&rb_self)?.encode(ruby, kind, payload, None)
}

fn encode_into(
    ruby: &Ruby,
    rb_self: Value,
    output: Value,
    kind: Value,
    payload: Value,
) -> Result<Value, Error> {
    let encoder = ENCODER.get(&rb_self)?;
    encoder.encode(ruby, kind, payload, Some(string(ruby, output, "output")?))
}

impl Encoder {
    /// A frame: appended to `output` if there is one, else in a new String.
    fn encode(
        &self,
        ruby: &Ruby,
        kind: Value,
        payload: Value,
        output: Option<RString>,
    ) -> Result<Value, Error> {
        let opcode = types::opcode(ruby, kind)?;
        let payload = frame::payload_of(ruby, opcode, payload)?;
        let length = payload.len() as u64;
        let message = Header { fin: true, reserved: 0, opcode, key: None, length };
        frame::check_payload(ruby, &message, payload)?;
        if output.is_some_and(|output| output.as_raw() == payload.as_raw()) {
            let message = "output and payload are the same String";
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
        let key = self.next_key(ruby)?;
        let (prepared, allocated) = {
            let mut core = self.core.borrow_mut();
            let prepared = with_bytes(payload, |payload| core.prepare(opcode, payload, key));
            (prepared, core.allocated())
        };
        let Prepared { header, compressed } =
            prepared.map_err(|error| encode_error(ruby, error))?;
        let before = output.map_or(0, |output| output.len());
        let written = catching_jumps(|| {
            self.held.is(allocated);
            let write = |payload: &[u8]| match output {
                Some(output) => {
                    append_frame(output, header, payload);
                    Ok(output.as_value())
                }
                None => framed_bytes(header, payload),
            };
            match &compressed {
                Some(compressed) => write(compressed),
                None => with_bytes(payload, write),
            }
        });
        let written = written.and_then(|written| written);
        if written.is_err() {
            self.core.borrow_mut().forget();
            if let Some(output) = output {
                take_back(output, before)?;
            }
        }
        written
    }

    /// An unpredictable masking key (RFC 6455, section 5.3), if this end has to mask.
    fn next_key(&self, ruby: &Ruby) -> Result<Option<Key>, Error> {
        if !self.masks.get() {
            return Ok(None);
        }
        if let Some(key) = self.keys.borrow_mut().pop() {
            return Ok(Some(key));
        }
        // Not by Random.urandom: Ruby might switch to another thread in it, while `output` is in use.
        let mut bytes = [0; KEYS * size_of::<Key>()];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::new(ruby.exception_runtime_error(), error.to_string()))?;
        let mut keys = self.keys.borrow_mut();
        keys.try_reserve_exact(KEYS).map_err(|error| encode_error(ruby, error.into()))?;
        keys.extend(bytes.as_chunks().0);
        Ok(keys.pop())
    }
}
