#include "CPlanes.h"
#include "vectors.h"

#include <string.h>

#ifdef FOR_AVX2

// Loads 16 bytes from each of two places.
FOR_AVX2 INLINE __m256i load(const uint8_t *first, const uint8_t *second) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first)), _mm_loadu_si128((const __m128i *)second), 1);
}

// Computes one block of samples.
FOR_AVX2 INLINE __m128i block(
    const uint8_t *row, const int32_t *starts, const uint8_t *shuffles, const int8_t *weights, int windows, int pairs) {
    __m256i sums = _mm256_set1_epi16(sum_start);
    const __m256i near = _mm256_loadu_si256((const __m256i *)shuffles);
    for (int pair = 0; pair < pairs; pair++) {
        const uint8_t *from = row + 2 * pair;
        __m256i samples = _mm256_shuffle_epi8(load(from + starts[0], from + starts[1]), near);
        if (windows > 1) {
            const __m256i far = _mm256_loadu_si256((const __m256i *)(shuffles + 32));
            samples = _mm256_or_si256(samples, _mm256_shuffle_epi8(load(from + starts[2], from + starts[3]), far));
        }
        const __m256i factors = _mm256_loadu_si256((const __m256i *)(weights + 32 * pair));
        sums = _mm256_add_epi16(sums, _mm256_maddubs_epi16(samples, factors));
    }
    // Puts the eight samples of both lanes in order.
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(rounded(sums, sums), 0x08));
}

FOR_AVX2 INLINE void scale(
    const uint8_t *restrict row, const int32_t *restrict starts, const uint8_t *restrict shuffles,
    const int8_t *restrict weights, int windows, int pairs, uint8_t *restrict out, int width) {
    for (; width >= upcast_row_block_width; width -= upcast_row_block_width, out += upcast_row_block_width) {
        _mm_storeu_si128((__m128i *)out, block(row, starts, shuffles, weights, windows, pairs));
        starts += 2 * windows;
        shuffles += 32 * windows;
        weights += 32 * pairs;
    }
    if (width > 0) {
        const __m128i last = block(row, starts, shuffles, weights, windows, pairs);
        memcpy(out, &last, (size_t)width);
    }
}

FOR_AVX2 void upcast_scale_row(
    const uint8_t *row, const int32_t *starts, const uint8_t *shuffles, const int8_t *weights, int windows,
    int pairs, uint8_t *out, int width) {
    // The usual numbers get loops of a known length.
    if (windows == 1 && pairs == 2) return scale(row, starts, shuffles, weights, 1, 2, out, width);
    if (windows == 1 && pairs == 3) return scale(row, starts, shuffles, weights, 1, 3, out, width);
    if (windows == 1 && pairs == 4) return scale(row, starts, shuffles, weights, 1, 4, out, width);
    scale(row, starts, shuffles, weights, windows, pairs, out, width);
}

#else

void upcast_scale_row(
    const uint8_t *row, const int32_t *starts, const uint8_t *shuffles, const int8_t *weights, int windows,
    int pairs, uint8_t *out, int width) {
    __builtin_trap();
}

#endif
