//! The reference: one byte at a time, as RFC 6455, section 5.3 writes it.

/// Unmasks `payload` in place, byte by byte. See [`unmask`](crate::unmask()) for the arguments.
///
/// ```
/// let mut payload = *b"\x7f\x9f\x4d\x51\x58";
/// ws_unmask_core::unmask::scalar::unmask(&mut payload, [0x37, 0xfa, 0x21, 0x3d], 0);
/// assert_eq!(&payload, b"Hello");
/// ```
pub fn unmask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    for (position, byte) in payload.iter_mut().enumerate() {
        *byte ^= key[(offset % 4 + position) % 4];
    }
}
