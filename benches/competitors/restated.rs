//! The techniques of two libraries whose masking function is private, written again here after
//! what they publish, with nothing left out and nothing added.

/// tungstenite 0.30: words of four bytes between a prologue and a tail of single bytes.
#[inline]
pub fn tungstenite(payload: &mut [u8], key: [u8; 4]) {
    // SAFETY: any bit pattern is a u32.
    let (head, words, tail) = unsafe { payload.align_to_mut::<u32>() };
    byte_by_byte(head, key);
    let word_key = u32::from_ne_bytes(rotated(key, head.len()));
    for word in words {
        *word ^= word_key;
    }
    byte_by_byte(tail, word_key.to_ne_bytes());
}

/// tokio-websockets 0.13: the widest vector that the CPU has, asked at every call, between a
/// prologue and a tail that do the same with words of eight bytes, and single bytes around those.
#[inline]
pub fn tokio_websockets(payload: &mut [u8], key: [u8; 4]) {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: each is called only where the CPU has what it needs.
        unsafe {
            if std::arch::is_x86_feature_detected!("avx512f") {
                return x86::avx512(payload, key);
            } else if std::arch::is_x86_feature_detected!("avx2") {
                return x86::avx2(payload, key);
            }
            x86::sse2(payload, key);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let mut key = key;
        words_of_eight(payload, &mut key);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::words_of_eight;
    use std::arch::x86_64::*;

    macro_rules! vectors {
        ($name:ident, $feature:literal, $vector:ty, $splat:ident, $xor:ident) => {
            #[target_feature(enable = $feature)]
            pub unsafe fn $name(payload: &mut [u8], mut key: [u8; 4]) {
                // SAFETY: any bit pattern is a vector of integers.
                let (head, vectors, tail) = unsafe { payload.align_to_mut::<$vector>() };
                if !head.is_empty() {
                    words_of_eight(head, &mut key);
                }
                if !vectors.is_empty() {
                    let wide = $splat(i32::from_ne_bytes(key));
                    for vector in vectors {
                        *vector = $xor(*vector, wide);
                    }
                }
                if !tail.is_empty() {
                    words_of_eight(tail, &mut key);
                }
            }
        };
    }

    vectors!(avx512, "avx512f", __m512i, _mm512_set1_epi32, _mm512_xor_si512);
    vectors!(avx2, "avx2", __m256i, _mm256_set1_epi32, _mm256_xor_si256);
    vectors!(sse2, "sse2", __m128i, _mm_set1_epi32, _mm_xor_si128);
}

fn words_of_eight(payload: &mut [u8], key: &mut [u8; 4]) {
    // SAFETY: any bit pattern is a u64.
    let (head, words, tail) = unsafe { payload.align_to_mut::<u64>() };
    byte_by_byte(head, *key);
    *key = rotated(*key, head.len());
    let word_key = u64::from(u32::from_ne_bytes(*key)) * 0x1_0000_0001;
    for word in words {
        *word ^= word_key;
    }
    byte_by_byte(tail, *key);
    *key = rotated(*key, tail.len());
}

fn byte_by_byte(payload: &mut [u8], key: [u8; 4]) {
    for (i, byte) in payload.iter_mut().enumerate() {
        *byte ^= key[i & 3];
    }
}

fn rotated(key: [u8; 4], by: usize) -> [u8; 4] {
    u32::from_be_bytes(key).rotate_left((by % 4 * 8) as u32).to_be_bytes()
}
