#include "CPlanes.h"
#include "vectors.h"

#include <string.h>

#ifdef FOR_AVX2
int upcast_has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }
int upcast_has_ssse3(void) { return __builtin_cpu_supports("ssse3") != 0; }
#else
int upcast_has_avx2(void) { return 0; }
int upcast_has_ssse3(void) { return 1; }
#endif

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint8_t UnalignedBytes __attribute__((vector_size(16), aligned(1)));
typedef uint16_t Words __attribute__((vector_size(32)));
typedef int16_t Sums __attribute__((vector_size(32)));
typedef int32_t Products __attribute__((vector_size(64)));

enum { vectors = upcast_strip_width / 16 };

// Converts 16 sums to 16 samples, with the results of `rounded`.
INLINE Bytes samples(const Words *sums) {
    Products all = (__builtin_convertvector((Sums)*sums, Products) * sum_factor + (1 << 14) + (128 << 15)) >> 15;
    // Negative values become 0, and those above 255 become 255.
    all &= all >= 0;
    all |= all > 255;
    return __builtin_convertvector(all, Bytes);
}

// Filters one strip's width of one row, from the column `x` on.
INLINE void filter(
    const uint8_t *const *rows, ptrdiff_t x, const int8_t *weights, int count, uint8_t *out, int width) {
    Words sums[vectors];
    for (int i = 0; i < vectors; i++) sums[i] = (Words){0} + (uint16_t)sum_start;
    for (int row = 0; row < count; row++)
        for (int i = 0; i < vectors; i++)
            sums[i] += __builtin_convertvector(*(const UnalignedBytes *)(rows[row] + x + 16 * i), Words)
                * (uint16_t)weights[row];
    Bytes made[vectors];
    for (int i = 0; i < vectors; i++) made[i] = samples(&sums[i]);
    memcpy(out + x, made, (size_t)(width - x < upcast_strip_width ? width - x : upcast_strip_width));
}

#ifdef FOR_AVX2

enum { registers = upcast_strip_width / 32 };

// The weights of a pair of rows.
FOR_AVX2 INLINE __m256i pairOf(const int8_t *weights) {
    int16_t both;
    memcpy(&both, weights, sizeof both);
    return _mm256_set1_epi16(both);
}

FOR_AVX2 INLINE void addPair(
    __m256i sums[2 * registers], const uint8_t *first, const uint8_t *second, __m256i weights) {
    for (int i = 0; i < registers; i++) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)first + i);
        const __m256i b = _mm256_loadu_si256((const __m256i *)second + i);
        sums[2 * i] = _mm256_add_epi16(sums[2 * i], _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), weights));
        sums[2 * i + 1] = _mm256_add_epi16(sums[2 * i + 1], _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), weights));
    }
}

FOR_AVX2 INLINE void store(const __m256i sums[2 * registers], uint8_t *out, ptrdiff_t width) {
    __m256i made[registers];
    for (int i = 0; i < registers; i++) made[i] = rounded(sums[2 * i], sums[2 * i + 1]);
    if (width >= upcast_strip_width)
        for (int i = 0; i < registers; i++) _mm256_storeu_si256((__m256i *)out + i, made[i]);
    else
        memcpy(out, made, (size_t)width);
}

// Filters a whole row, with two source rows at a time.
FOR_AVX2 INLINE void filterPairs(
    const uint8_t *const *rows, const int8_t *weights, int count, uint8_t *out, int width) {
    for (ptrdiff_t x = 0; x < width; x += upcast_strip_width) {
        __m256i sums[2 * registers];
        for (int i = 0; i < 2 * registers; i++) sums[i] = _mm256_set1_epi16(sum_start);
        for (int row = 0; row < count; row += 2)
            addPair(sums, rows[row] + x, rows[row + (row + 1 < count)] + x, pairOf(weights + row));
        store(sums, out + x, width - x);
    }
}

FOR_AVX2 static void filterRowsAVX2(
    const uint8_t *const *rows, const int8_t *weights, int count, uint8_t *out, int width) {
    // The usual counts get loops of a known length.
    if (count == 4) return filterPairs(rows, weights, 4, out, width);
    if (count == 6) return filterPairs(rows, weights, 6, out, width);
    filterPairs(rows, weights, count, out, width);
}

FOR_AVX2 INLINE void filterStrip(const uint8_t *first, const int8_t *weights, int count, uint8_t *out, int width) {
    __m256i sums[2 * registers];
    for (int i = 0; i < 2 * registers; i++) sums[i] = _mm256_set1_epi16(sum_start);
    for (int row = 0; row < count; row += 2, first += 2 * upcast_strip_width)
        addPair(sums, first, first + upcast_strip_width, pairOf(weights + row));
    store(sums, out, width);
}

FOR_AVX2 static void filterStripAVX2(
    const uint8_t *strip, int width, const struct upcast_taps *taps, const int8_t *weights, int count, uint8_t *out,
    ptrdiff_t outStride) {
    for (; count > 0; count--, taps++, out += outStride) {
        const uint8_t *first = strip + (ptrdiff_t)taps->first * upcast_strip_width;
        const int8_t *factors = weights + taps->weights;
        if (taps->count == 4)
            filterStrip(first, factors, 4, out, width);
        else if (taps->count == 6)
            filterStrip(first, factors, 6, out, width);
        else
            filterStrip(first, factors, taps->count, out, width);
    }
}

#endif

void upcast_filter_rows(
    int avx2, const uint8_t *const *rows, const int8_t *weights, int count, uint8_t *out, int width) {
#ifdef FOR_AVX2
    if (avx2) return filterRowsAVX2(rows, weights, count, out, width);
#endif
    for (ptrdiff_t x = 0; x < width; x += upcast_strip_width) filter(rows, x, weights, count, out, width);
}

void upcast_filter_strip(
    int avx2, const uint8_t *strip, int width, const struct upcast_taps *taps, const int8_t *weights, int count,
    uint8_t *out, ptrdiff_t outStride) {
#ifdef FOR_AVX2
    if (avx2) return filterStripAVX2(strip, width, taps, weights, count, out, outStride);
#endif
    for (int row = 0; row < count; row++, out += outStride) {
        const uint8_t *rows[upcast_greatest_taps];
        for (int tap = 0; tap < taps[row].count; tap++)
            rows[tap] = strip + (ptrdiff_t)(taps[row].first + tap) * upcast_strip_width;
        filter(rows, 0, weights + taps[row].weights, taps[row].count, out, width);
    }
}

INLINE Bytes low(Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

INLINE Bytes high(Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// A perfect shuffle of all 256 samples (the halves in turn), done four times, turns rows into columns.
INLINE void shuffle(const Bytes from[16], Bytes to[16]) {
    for (int i = 0; i < 8; i++) {
        to[2 * i] = low(from[i], from[i + 8]);
        to[2 * i + 1] = high(from[i], from[i + 8]);
    }
}

INLINE void transpose(
    const uint8_t *restrict plane, ptrdiff_t stride, int columns, int rows, uint8_t *restrict out,
    ptrdiff_t outStride) {
    for (int x = 0; x < columns; x += 16)
        for (int y = 0; y < rows; y += 16) {
            Bytes a[16], b[16];
            for (int i = 0; i < 16; i++) a[i] = *(const UnalignedBytes *)(plane + (y + i) * stride + x);
            shuffle(a, b);
            shuffle(b, a);
            shuffle(a, b);
            shuffle(b, a);
            uint8_t *to = out + x * outStride + y;
            if (columns - x >= 16 && rows - y >= 16) {
                for (int i = 0; i < 16; i++) *(UnalignedBytes *)(to + i * outStride) = a[i];
                continue;
            }
            size_t width = (size_t)(rows - y < 16 ? rows - y : 16);
            for (int i = 0; i < 16 && i < columns - x; i++) memcpy(to + i * outStride, &a[i], width);
        }
}

#ifdef FOR_AVX2

FOR_AVX2 static void transposeAVX2(
    const uint8_t *restrict plane, ptrdiff_t stride, int columns, int rows, uint8_t *restrict out,
    ptrdiff_t outStride) {
    transpose(plane, stride, columns, rows, out, outStride);
}

#endif

void upcast_transpose(
    int avx2, const uint8_t *plane, ptrdiff_t stride, int columns, int rows, uint8_t *out, ptrdiff_t outStride) {
#ifdef FOR_AVX2
    if (avx2) return transposeAVX2(plane, stride, columns, rows, out, outStride);
#endif
    transpose(plane, stride, columns, rows, out, outStride);
}
