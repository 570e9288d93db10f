#include "CPlanes.h"

#include <string.h>

// Every x86-64 has SSE2; most have AVX2, which does twice as much at once. The loader picks.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !__has_feature(thread_sanitizer) && \
    !__has_feature(address_sanitizer)
#define FOR_ALL_PROCESSORS __attribute__((target_clones("avx2", "default")))
#else
#define FOR_ALL_PROCESSORS
#endif

#define INLINE static inline __attribute__((always_inline))

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

FOR_ALL_PROCESSORS
void upcast_blend_rows(
    const uint8_t *restrict rows, ptrdiff_t stride, const uint16_t *restrict weights, int count, int starts, int ends,
    uint16_t *restrict kept, uint8_t *restrict out, int width) {
    for (int x = 0; x < width; x += upcast_strip_width) {
        Words sums[vectors];
        UnalignedWords *place = (UnalignedWords *)(kept + x);
        for (int i = 0; i < vectors; i++) sums[i] = starts ? (Words){0} + half : place[i];
        add(sums, rows + x, stride, weights, count);
        if (ends)
            store(sums, out + x, width - x);
        else
            for (int i = 0; i < vectors; i++) place[i] = sums[i];
    }
}

FOR_ALL_PROCESSORS
void upcast_blend_strip(
    const uint8_t *restrict strip, int width, const struct upcast_taps *restrict taps,
    const uint16_t *restrict weights, int count, uint8_t *restrict out, ptrdiff_t outStride) {
    for (int row = 0; row < count; row++, out += outStride) {
        Words sums[vectors];
        for (int i = 0; i < vectors; i++) sums[i] = (Words){0} + half;
        const struct upcast_taps tap = taps[row];
        add(sums, strip + (ptrdiff_t)tap.first * upcast_strip_width, upcast_strip_width, weights + tap.weights,
            tap.count);
        store(sums, out, width);
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

FOR_ALL_PROCESSORS
void upcast_transpose(
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
