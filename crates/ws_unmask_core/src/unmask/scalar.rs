//! The reference: one byte at a time, as RFC 6455, section 5.3 writes it.

/// Unmasks `payload` in place, byte by byte. See [`unmask`](crate::unmask()) for the arguments.
pub fn unmask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    for (position, byte) in payload.iter_mut().enumerate() {
        *byte ^= key[(offset % 4 + position) % 4];
    }
}
