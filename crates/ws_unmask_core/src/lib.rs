//! A sans-IO WebSocket codec: unmasks payloads as fast as memory allows, and decodes frames into
//! checked messages. It contains no `unsafe` code.
//!
//! RFC 6455, section 5.3 makes every client XOR its payload with a four-byte key, so a server has
//! to undo that for every byte it receives:
//!
//! ```
//! // The masked "Hello" of RFC 6455, section 5.7, after its header of six bytes.
//! let mut frame = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
//! let key = [frame[2], frame[3], frame[4], frame[5]];
//! ws_unmask_core::unmask(&mut frame[6..], key, 0);
//! assert_eq!(&frame[6..], b"Hello");
//! ```
//!
//! [`unmask()`] and [`unmask_into()`] choose the fastest path for the length; the paths themselves
//! are in [`mod@unmask`]: [`scalar`](unmask::scalar), [`word`](unmask::word) and
//! [`simd`](unmask::simd). XOR is its own inverse, so the same functions mask.
//!
//! [`Frame::parse`] parses a single frame in a buffer. [`Decoder`] accepts input in chunks of any size
//! and returns checked messages. [`Encoder`] writes frames. None of them does IO.
//!
//! # Features
//!
//! `std` (default): detect at run time which SIMD instructions the CPU has. Without it the crate is
//! `no_std` and uses those that the target guarantees (SSE2 on x86-64, NEON on AArch64).
//!
//! `deflate`: compressed messages (permessage-deflate, RFC 7692) with zlib-rs, which is pure Rust: the
//! module `deflate`, `Decoder::with_inflater`, `Encoder::with_deflater`. It needs `std`.

#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(feature = "deflate")]
extern crate std;

mod close;
mod decoder;
#[cfg(feature = "deflate")]
pub mod deflate;
mod encoder;
mod error;
pub mod frame;
#[cfg_attr(not(feature = "deflate"), path = "no_inflation.rs")]
mod inflation;
mod key;
mod masked_payload;
mod payload;
mod reassembly;
mod rules;
mod simd_level;
mod text;
pub mod unmask;
mod utf8;

pub use close::is_close_code;
pub use decoder::{Decoder, Message};
pub use encoder::{EncodeError, Encoder, Prepared};
pub use error::{DecodeError, InvalidUtf8, ProtocolError, Violation};
pub use frame::{Frame, MessageState};
pub use masked_payload::MaskedPayload;
pub use payload::{Content, Payload};
pub use rules::{Masking, Reserved, Rules, reserved_bit};
pub use simd_level::SimdLevel;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[doc(inline)]
pub use unmask::{unmask, unmask_into, unmask_into_uninit};
