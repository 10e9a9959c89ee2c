//! The keywords of `Decoder.new` and `Frame.read`.

use magnus::{
    Error, RArray, RHash, Ruby, TryConvert, Value,
    scan_args::{get_kwargs, scan_args},
};
use ws_unmask_core::Options;
use ws_unmask_core::frame::Reserved;

/// Of `Decoder.new`, which takes nothing else.
pub fn of_decoder(ruby: &Ruby, arguments: &[Value]) -> Result<Options, Error> {
    let arguments = scan_args::<(), (), (), (), RHash, ()>(arguments)?;
    let keywords = get_kwargs::<
        _,
        (),
        (Option<Option<u64>>, Option<Option<u64>>, Option<bool>, Option<RArray>, Option<bool>),
        (),
    >(
        arguments.keywords,
        &[],
        &["max_message_size", "max_frame_size", "require_mask", "allow_reserved", "validate_utf8"],
    )?;
    let (max_message_size, max_frame_size, require_mask, allow_reserved, validate_utf8) =
        keywords.optional;
    let default = Options::default();
    Ok(Options {
        max_message_size: limit(max_message_size, default.max_message_size),
        max_frame_size: limit(max_frame_size, default.max_frame_size),
        require_mask: require_mask.unwrap_or(default.require_mask),
        allow_reserved: reserved(ruby, allow_reserved)?,
        validate_utf8: validate_utf8.unwrap_or(default.validate_utf8),
    })
}

/// Of `Frame.read`, behind its one other argument.
pub fn of_frame(ruby: &Ruby, arguments: &[Value]) -> Result<(Value, Options), Error> {
    if let [source] = *arguments {
        return Ok((source, frame_default()));
    }
    let arguments = scan_args::<(Value,), (), (), (), RHash, ()>(arguments)?;
    let keywords = get_kwargs::<_, (), (Option<Option<u64>>, Option<bool>, Option<RArray>), ()>(
        arguments.keywords,
        &[],
        &["max_frame_size", "require_mask", "allow_reserved"],
    )?;
    let (max_frame_size, require_mask, allow_reserved) = keywords.optional;
    let default = frame_default();
    let options = Options {
        max_frame_size: limit(max_frame_size, default.max_frame_size),
        require_mask: require_mask.unwrap_or(default.require_mask),
        allow_reserved: reserved(ruby, allow_reserved)?,
        ..default
    };
    Ok((arguments.required.0, options))
}

fn frame_default() -> Options {
    let default = Options::default();
    Options { max_frame_size: default.max_message_size, ..default }
}

/// Not given: the default. nil: none.
fn limit(given: Option<Option<u64>>, default: u64) -> u64 {
    given.map_or(default, |limit| limit.unwrap_or(u64::MAX))
}

/// Reserved bits from the numbers that they have in their names.
pub fn reserved(ruby: &Ruby, bits: Option<RArray>) -> Result<Reserved, Error> {
    let mut reserved = 0;
    for bit in bits.into_iter().flatten() {
        reserved |= match u8::try_convert(bit) {
            Ok(bit @ 1..=3) => 8 >> bit,
            _ => {
                let message = "the reserved bits are 1, 2 and 3, for RSV1, RSV2 and RSV3";
                return Err(Error::new(ruby.exception_arg_error(), message));
            }
        };
    }
    Ok(reserved)
}

/// The bits as `allow_reserved` names them.
pub fn reserved_names(ruby: &Ruby, reserved: Reserved) -> RArray {
    ruby.ary_from_iter((1..=3u8).filter(|bit| reserved & (8 >> bit) != 0))
}
