//! The masking key as a value (RFC 6455, section 5.3).

/// The four bytes that a client XORs its payload with. Byte *i* in memory is the one for payload byte
/// *i*, on machines of any byte order.
#[derive(Clone, Copy)]
pub(crate) struct Key(u32);

impl Key {
    #[inline(always)]
    pub(crate) const fn new(bytes: [u8; 4]) -> Self {
        Self(u32::from_ne_bytes(bytes))
    }

    /// The key for a piece that begins `offset` bytes later.
    #[inline(always)]
    pub(crate) const fn at(self, offset: usize) -> Self {
        let bits = 8 * (offset % 4) as u32;
        Self(if cfg!(target_endian = "big") {
            self.0.rotate_left(bits)
        } else {
            self.0.rotate_right(bits)
        })
    }

    #[inline(always)]
    pub(crate) const fn first_byte(self) -> u8 {
        self.0.to_ne_bytes()[0]
    }

    #[inline(always)]
    pub(crate) const fn as_u32(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn as_u64(self) -> u64 {
        self.0 as u64 * 0x1_0000_0001
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn begins_with_the_byte_for_its_offset() {
        let bytes = [0x37, 0xfa, 0x21, 0x3d];
        for offset in 0..9 {
            let key = Key::new(bytes).at(offset);
            assert_eq!(key.first_byte(), bytes[offset % 4]);
            assert_eq!(key.as_u32().to_ne_bytes()[3], bytes[(offset + 3) % 4]);
        }
    }

    #[test]
    fn widens_by_repeating_itself() {
        let wide = Key::new([1, 2, 3, 4]).as_u64().to_ne_bytes();
        assert_eq!(wide, [1, 2, 3, 4, 1, 2, 3, 4]);
    }
}
