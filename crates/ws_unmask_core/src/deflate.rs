//! Compressed messages: permessage-deflate (RFC 7692), without IO.
//!
//! [`Parameters`] negotiates the extension in the opening handshake, as a server or as a client.
//! [`Inflater`] and [`Deflater`] each handle one direction of a connection.
//!
//! ```
//! use ws_unmask_core::deflate::{Deflater, Inflater, Parameters, Role};
//!
//! let offer = "permessage-deflate; client_max_window_bits";
//! let accepted = Parameters::default().accept(offer).unwrap().unwrap();
//! assert_eq!(accepted.response, "permessage-deflate");
//!
//! let mut deflater = accepted.parameters.deflater(Role::Server);
//! let mut payload = Vec::new();
//! deflater.deflate(b"Hello", &mut payload).unwrap();
//! assert_eq!(payload, [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]); // section 7.2.3.1
//!
//! let mut inflater = accepted.parameters.inflater(Role::Client);
//! let mut plain = Vec::new();
//! inflater.inflate_message(&payload, &mut plain, 1000).unwrap();
//! assert_eq!(plain, b"Hello");
//! ```
//!
//! # Costs
//!
//! None until the first compressed message in a direction. After it, for each connection:
//!
//! | | to inflate | to deflate |
//! | --- | --- | --- |
//! | window of 15 bits | 46 KiB | 273 KiB |
//! | 12 bits | 46 KiB | 161 KiB |
//! | 9 bits | 46 KiB | 147 KiB |
//! | no context takeover | 46 KiB during a message, 0 between messages, and 0.2 us per message | 0, with one state for each thread, and 3 us a message |
//!
//! Compressed size of JSON messages, as in a chat, at the default level:
//!
//! | | 125 B | 1 KiB | 16 KiB |
//! | --- | --- | --- | --- |
//! | window of 15 bits | 31 % | 26 % | 23 % |
//! | 12 bits | 35 % | 28 % | 25 % |
//! | 9 bits | 47 % | 34 % | 32 % |
//! | 15 bits, no context takeover | 87 % | 39 % | 26 % |
//! | 15 bits, level 1 | 36 % | 34 % | 34 % |
//!
//! Level 1 takes a tenth of the time at 125 B, a sixth at 1 KiB, and a fifth above that.

mod deflater;
mod extension_list;
mod inflater;
mod negotiation;

pub use deflater::Deflater;
pub use extension_list::MalformedHeader;
pub use inflater::{InflateError, Inflater};
pub use negotiation::{Accepted, NegotiationError, Parameters, Role};

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// What a sender removes from the end of each message, and a receiver adds again (RFC 7692, sections
/// 7.2.1 and 7.2.2): the length of the empty block that flushes it.
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// Whether `bytes` can be allocated: zlib-rs panics if it cannot allocate its state.
fn check_memory(bytes: usize) -> Result<(), TryReserveError> {
    Vec::<u8>::new().try_reserve_exact(bytes)
}
