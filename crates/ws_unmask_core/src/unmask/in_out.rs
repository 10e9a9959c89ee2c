//! The source and destination of unmasking, so that each path is written only once.

use crate::key::Key;
use crate::utf8::Word;
use core::mem::MaybeUninit;

/// A masked payload and the place for the plain bytes, which may be the same. Positions are in
/// bytes from its start.
pub(crate) trait InOut {
    fn len(&self) -> usize;

    /// The `len` masked bytes from `at` on.
    fn masked(&self, at: usize, len: usize) -> &[u8];

    /// Writes plain bytes from `at` on.
    fn write(&mut self, at: usize, plain: &[u8]);

    /// How many bytes from the start the first address lies that is a multiple of `alignment`.
    fn next_aligned(&self, alignment: usize) -> usize;

    /// The whole pieces of `size` bytes between two positions.
    fn pieces(&mut self, from: usize, to: usize, size: usize) -> impl Iterator<Item = impl InOut>;

    /// The same, its lengths compared where the compiler sees it, which then omits later checks.
    #[inline(always)]
    #[must_use]
    fn measured(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Copies the masked bytes to the destination, unless they are already there.
    fn copied<'a>(self) -> &'a mut [u8]
    where
        Self: 'a;

    /// Four plain bytes that were written, from `at` on; `key` is the one for the start.
    fn plain_word(&self, at: usize, key: Key) -> Word;

    /// Four plain bytes that were not written, from `at` on; `key` is the one for the start.
    #[inline(always)]
    fn unmasked_word(&self, at: usize, key: Key) -> Word {
        u32::from_le(u32::from_ne_bytes(self.read(at)) ^ key.at(at).as_u32())
    }

    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.masked(at, N));
        bytes
    }
}

/// Unmasks in place.
pub(crate) struct InPlace<'a>(pub(crate) &'a mut [u8]);

impl InOut for InPlace<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn masked(&self, at: usize, len: usize) -> &[u8] {
        &self.0[at..][..len]
    }

    #[inline(always)]
    fn write(&mut self, at: usize, plain: &[u8]) {
        self.0[at..][..plain.len()].copy_from_slice(plain);
    }

    #[inline(always)]
    fn next_aligned(&self, alignment: usize) -> usize {
        self.0.as_ptr().addr().wrapping_neg() % alignment
    }

    #[inline(always)]
    fn copied<'b>(self) -> &'b mut [u8]
    where
        Self: 'b,
    {
        self.0
    }

    #[inline(always)]
    fn plain_word(&self, at: usize, _: Key) -> Word {
        Word::from_le_bytes(self.read(at))
    }

    #[inline(always)]
    fn pieces(&mut self, from: usize, to: usize, size: usize) -> impl Iterator<Item = impl InOut> {
        self.0[from..to].chunks_exact_mut(size).map(InPlace)
    }
}

/// Unmasks from `src` to `dst`, which have the same length.
pub(crate) struct Copied<'a, B> {
    pub(crate) dst: &'a mut [B],
    pub(crate) src: &'a [u8],
}

impl<B: Byte> InOut for Copied<'_, B> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.src.len()
    }

    #[inline(always)]
    fn masked(&self, at: usize, len: usize) -> &[u8] {
        &self.src[at..][..len]
    }

    #[inline(always)]
    fn write(&mut self, at: usize, plain: &[u8]) {
        B::copy(&mut self.dst[at..][..plain.len()], plain);
    }

    #[inline(always)]
    fn next_aligned(&self, alignment: usize) -> usize {
        self.dst.as_ptr().addr().wrapping_neg() % alignment
    }

    #[inline(always)]
    fn measured(self) -> Self {
        Self { dst: &mut self.dst[..self.src.len()], src: self.src }
    }

    #[inline(always)]
    fn copied<'b>(self) -> &'b mut [u8]
    where
        Self: 'b,
    {
        B::copy(self.dst, self.src)
    }

    #[inline(always)]
    fn plain_word(&self, at: usize, key: Key) -> Word {
        self.unmasked_word(at, key)
    }

    #[inline(always)]
    fn pieces(&mut self, from: usize, to: usize, size: usize) -> impl Iterator<Item = impl InOut> {
        let dst = self.dst[from..to].chunks_exact_mut(size);
        let src = self.src[from..to].chunks_exact(size);
        dst.zip(src).map(|(dst, src)| Copied { dst, src })
    }
}

/// A byte that can be written, whether or not it has been before.
pub(crate) trait Byte: Sized {
    fn copy<'a>(dst: &'a mut [Self], src: &[u8]) -> &'a mut [u8];
}

impl Byte for u8 {
    #[inline(always)]
    fn copy<'a>(dst: &'a mut [Self], src: &[u8]) -> &'a mut [u8] {
        dst.copy_from_slice(src);
        dst
    }
}

impl Byte for MaybeUninit<u8> {
    #[inline(always)]
    fn copy<'a>(dst: &'a mut [Self], src: &[u8]) -> &'a mut [u8] {
        dst.write_copy_of_slice(src)
    }
}
