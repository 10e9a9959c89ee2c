//! The SIMD levels of this machine.

use core::fmt;
use fearless_simd::Level as Vectors;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::Simd;

/// An instruction set to unmask with. A value proves that this CPU supports it.
///
/// ```
/// use ws_unmask_core::SimdLevel;
///
/// let best = SimdLevel::best();
/// assert!(SimdLevel::available().any(|level| level == best));
/// println!("unmasking with {best}"); // e.g. "avx2"
/// ```
#[derive(Clone, Copy)]
pub struct SimdLevel(Option<Vectors>);

/// Up to this length, the widest vectors are the best.
pub(crate) const WIDEST_UP_TO: usize = 32 << 10;

impl SimdLevel {
    /// The best level of this CPU. With the `std` feature it is detected once; without, it is what the
    /// compilation target guarantees.
    #[inline]
    pub fn best() -> Self {
        Self::of(best_vectors())
    }

    /// The best level to unmask `len` bytes with, or to copy ASCII: payloads over 32 KiB are in
    /// L2 or beyond, where AVX-512's 64-byte vectors are slower than 32-byte ones: 57 against 66 GB/s
    /// at 64 KiB to 1 MiB (`cargo bench`, group `levels at 6`).
    #[inline(always)]
    pub(crate) fn best_for(len: usize) -> Self {
        let best = Self::best();
        if len > WIDEST_UP_TO { best.at_most_32_bytes() } else { best }
    }

    /// Every level of this CPU, best first. The last one is the fallback, which needs no vectors.
    pub fn available() -> impl Iterator<Item = Self> {
        let best = best_vectors();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let vectors = [
            best.as_avx512().map(Simd::level),
            best.as_avx2().map(Simd::level),
            best.as_sse4_2().map(Simd::level),
            best.as_sse2().map(Simd::level),
        ];
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        let vectors = [(!best.is_fallback()).then_some(best)];
        let fallback = core::iter::once(Self(None));
        vectors.into_iter().flatten().map(Self::of).chain(fallback)
    }

    /// Its name: `avx512`, `avx2`, `sse4_2`, `sse2`, `neon`, `simd128` or `fallback`.
    pub fn name(self) -> &'static str {
        match self.0 {
            None => "fallback",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Some(Vectors::Avx512(_)) => "avx512",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Some(Vectors::Avx2(_)) => "avx2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Some(Vectors::Sse4_2(_)) => "sse4_2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Some(Vectors::Sse2(_)) => "sse2",
            #[cfg(target_arch = "aarch64")]
            Some(Vectors::Neon(_)) => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Some(Vectors::WasmSimd128(_)) => "simd128",
            Some(_) => "unknown",
        }
    }

    /// The best level of this CPU with vectors of at most 32 bytes.
    #[inline(always)]
    pub(crate) fn at_most_32_bytes(self) -> Self {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if let Some(avx2) = self.0.and_then(Vectors::as_avx2) {
            return Self(Some(avx2.level()));
        }
        self
    }

    /// Whether vectors can look up bytes in a table, which SSE2's cannot.
    #[inline(always)]
    pub(crate) fn can_shuffle_bytes(self) -> bool {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        return !matches!(self.0, None | Some(Vectors::Sse2(_)));
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        self.0.is_some()
    }

    #[inline(always)]
    pub(crate) fn vectors(self) -> Option<Vectors> {
        self.0
    }

    #[inline(always)]
    fn of(vectors: Vectors) -> Self {
        Self((!vectors.is_fallback()).then_some(vectors))
    }
}

#[inline(always)]
fn best_vectors() -> Vectors {
    #[cfg(feature = "std")]
    return Vectors::new();
    #[cfg(not(feature = "std"))]
    Vectors::baseline()
}

impl PartialEq for SimdLevel {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for SimdLevel {}

impl fmt::Display for SimdLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Debug for SimdLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SimdLevel({self})")
    }
}
