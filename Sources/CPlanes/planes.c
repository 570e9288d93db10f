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
typedef uint16_t UnalignedWords __attribute__((vector_size(32), aligned(2)));

enum { vectors = upcast_strip_width / 16 };

// 255 * 256 and the rounding stay below 65536.
static const uint16_t half = 128;

// Adds `count` rows of one strip to `sums`.
INLINE void add(Words sums[vectors], const uint8_t *rows, ptrdiff_t stride, const uint16_t *weights, int count) {
    for (int row = 0; row < count; row++, rows += stride)
        for (int i = 0; i < vectors; i++)
            sums[i] += __builtin_convertvector(*(const UnalignedBytes *)(rows + 16 * i), Words) * weights[row];
}

INLINE void store(const Words sums[vectors], uint8_t *out, int width) {
    Bytes rounded[vectors];
    for (int i = 0; i < vectors; i++) rounded[i] = __builtin_convertvector(sums[i] >> 8, Bytes);
    if (width >= upcast_strip_width)
        for (int i = 0; i < vectors; i++) *(UnalignedBytes *)(out + 16 * i) = rounded[i];
    else
        memcpy(out, rounded, (size_t)width);
}

// One strip's width of one row; `kept` as in upcast_blend_rows, or null.
INLINE void blend(
    const uint8_t *rows, ptrdiff_t stride, const uint16_t *weights, int count, int starts, int ends, uint16_t *kept,
    uint8_t *out, int width) {
    Words sums[vectors];
    UnalignedWords *place = (UnalignedWords *)kept;
    for (int i = 0; i < vectors; i++) sums[i] = starts ? (Words){0} + half : place[i];
    add(sums, rows, stride, weights, count);
    if (ends)
        store(sums, out, width);
    else
        for (int i = 0; i < vectors; i++) place[i] = sums[i];
}

#ifdef FOR_AVX2

enum { registers = upcast_strip_width / 32 };

// The same, two rows at a time. The multiplication wants one factor signed, so all samples are taken less 128; as the
// weights of a row add up to 256, that is 32768 less in all, which is added at the start. In `sums` neighbours lie as
// unpacking leaves them; packing undoes that.
FOR_AVX2 INLINE void addPair(
    __m256i sums[2 * registers], const uint8_t *first, const uint8_t *second, int firstWeight, int secondWeight) {
    const __m256i weights = _mm256_set1_epi16((short)(firstWeight | secondWeight << 8));
    const __m256i middle = _mm256_set1_epi8(-128);
    for (int i = 0; i < registers; i++) {
        const __m256i a = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(first + 32 * i)), middle);
        const __m256i b = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(second + 32 * i)), middle);
        const __m256i low = _mm256_maddubs_epi16(weights, _mm256_unpacklo_epi8(a, b));
        const __m256i high = _mm256_maddubs_epi16(weights, _mm256_unpackhi_epi8(a, b));
        sums[2 * i] = _mm256_add_epi16(sums[2 * i], low);
        sums[2 * i + 1] = _mm256_add_epi16(sums[2 * i + 1], high);
    }
}

FOR_AVX2 INLINE void blendPairs(
    const uint8_t *rows, ptrdiff_t stride, const uint16_t *weights, int count, int starts, int ends, uint16_t *kept,
    uint8_t *out, int width) {
    __m256i sums[2 * registers];
    for (int i = 0; i < 2 * registers; i++)
        sums[i] = starts ? _mm256_set1_epi16((short)(32768 + half)) : _mm256_loadu_si256((__m256i *)kept + i);
    for (; count > 1; count -= 2, rows += 2 * stride, weights += 2)
        addPair(sums, rows, rows + stride, weights[0], weights[1]);
    // In two halves, because 256 does not fit a byte.
    if (count > 0) addPair(sums, rows, rows, weights[0] / 2, weights[0] - weights[0] / 2);
    if (!ends) {
        for (int i = 0; i < 2 * registers; i++) _mm256_storeu_si256((__m256i *)kept + i, sums[i]);
        return;
    }
    uint8_t last[upcast_strip_width];
    uint8_t *to = width >= upcast_strip_width ? out : last;
    for (int i = 0; i < registers; i++)
        _mm256_storeu_si256(
            (__m256i *)to + i,
            _mm256_packus_epi16(_mm256_srli_epi16(sums[2 * i], 8), _mm256_srli_epi16(sums[2 * i + 1], 8)));
    if (to == last) memcpy(out, last, (size_t)width);
}

FOR_AVX2 static void blendRowsAVX2(
    const uint8_t *rows, ptrdiff_t stride, const uint16_t *weights, int count, int starts, int ends, uint16_t *kept,
    uint8_t *out, int width) {
    for (int x = 0; x < width; x += upcast_strip_width)
        blendPairs(rows + x, stride, weights, count, starts, ends, kept + x, out + x, width - x);
}

FOR_AVX2 static void blendStripAVX2(
    const uint8_t *strip, int width, const struct upcast_taps *taps, const uint16_t *weights, int count, uint8_t *out,
    ptrdiff_t outStride) {
    for (int row = 0; row < count; row++, out += outStride) {
        const uint8_t *first = strip + (ptrdiff_t)taps[row].first * upcast_strip_width;
        blendPairs(first, upcast_strip_width, weights + taps[row].weights, taps[row].count, 1, 1, NULL, out, width);
    }
}

#endif

void upcast_blend_rows(
    int avx2, const uint8_t *rows, ptrdiff_t stride, const uint16_t *weights, int count, int starts, int ends,
    uint16_t *kept, uint8_t *out, int width) {
#ifdef FOR_AVX2
    if (avx2) return blendRowsAVX2(rows, stride, weights, count, starts, ends, kept, out, width);
#endif
    for (int x = 0; x < width; x += upcast_strip_width)
        blend(rows + x, stride, weights, count, starts, ends, kept + x, out + x, width - x);
}

void upcast_blend_strip(
    int avx2, const uint8_t *strip, int width, const struct upcast_taps *taps, const uint16_t *weights, int count,
    uint8_t *out, ptrdiff_t outStride) {
#ifdef FOR_AVX2
    if (avx2) return blendStripAVX2(strip, width, taps, weights, count, out, outStride);
#endif
    for (int row = 0; row < count; row++, out += outStride) {
        const uint8_t *first = strip + (ptrdiff_t)taps[row].first * upcast_strip_width;
        blend(first, upcast_strip_width, weights + taps[row].weights, taps[row].count, 1, 1, NULL, out, width);
    }
}

INLINE Bytes low(Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

INLINE Bytes high(Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Four times the same shuffle of all 256 samples (a perfect one: the halves in turn) makes columns of rows.
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
