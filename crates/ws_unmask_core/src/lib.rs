//! Unmasks what WebSocket clients send, at the speed of memory and without a line of unsafe.
//!
//! RFC 6455, section 5.3 makes every client XOR its payload with a four-byte key, so a server has
//! to undo that for every byte it receives:
//!
//! ```
//! // The masked "Hello" of RFC 6455, section 5.7, behind its six bytes of header.
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
//! [`Decoder`] does the rest of receiving: it takes the bytes of a connection, cut anywhere, and
//! gives back checked messages. It does no IO.
//!
//! # Features
//!
//! `std` (default): ask the CPU at run time for its vectors. Without it the crate is `no_std` and
//! uses the vectors that the target guarantees (SSE2 on x86-64, NEON on AArch64).

#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod decoder;
mod error;
pub mod frame;
mod key;
mod level;
mod payload;
pub mod unmask;
mod utf8;

pub use decoder::{Decoder, Message, Options};
pub use error::Fault;
pub use level::Level;
pub use payload::{Content, Masked, Payload, PayloadError};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[doc(inline)]
pub use unmask::{unmask, unmask_into, unmask_into_uninit};
