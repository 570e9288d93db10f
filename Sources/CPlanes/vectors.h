#pragma once

#include "CPlanes.h"

// Every x86-64 has SSE2; most have AVX2, which processes twice as much at once.
#if defined(__x86_64__)
#include <immintrin.h>
#define FOR_AVX2 __attribute__((target("avx2")))
#endif

#define INLINE static inline __attribute__((always_inline))

// A sum of weighted samples can be -0.4 to 1.4 times that of white. Minus half of white, it fits a signed 16-bit
// number, and saturates at black and white when it is packed to 8 bits.
enum {
    sum_start = -128 * upcast_weight_unit,
    // 1 / upcast_weight_unit in 1 / 32768. Exact for flat areas: 128 levels are off by 0.05 at most.
    sum_factor = (32768 + upcast_weight_unit / 2) / upcast_weight_unit,
};

#ifdef FOR_AVX2

// Converts 32 sums to 32 samples. The sums lie as unpacking (or two lanes) leaves them.
FOR_AVX2 INLINE __m256i rounded(__m256i low, __m256i high) {
    const __m256i factor = _mm256_set1_epi16(sum_factor);
    const __m256i samples = _mm256_packs_epi16(_mm256_mulhrs_epi16(low, factor), _mm256_mulhrs_epi16(high, factor));
    return _mm256_xor_si256(samples, _mm256_set1_epi8(-128));
}

#endif
