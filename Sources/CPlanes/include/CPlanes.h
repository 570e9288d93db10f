#pragma once
#include <stddef.h>
#include <stdint.h>

// The kernels of scaling and turning: sums of weighted rows, and transposed planes. They are in C for its vector types,
// and because one function can be compiled for several generations of a processor. If `avx2` is 1, the version with
// AVX2 runs, which requires `upcast_has_avx2`. All versions give the same samples.

/// 1 if this processor has AVX2.
int upcast_has_avx2(void);

/// 0 if this processor is an x86-64 without SSSE3, else 1.
int upcast_has_ssse3(void);

/// The number of samples that are processed at once: a cache line. Rows are read up to the next multiple of it; nothing
/// is written beyond the requested samples.
enum { upcast_strip_width = 64 };

/// The sum of the weights of a sample. The products of two neighbours are added in signed 16 bits, so their weights may
/// add up to 128. They add up to at most 1.15 times this.
enum { upcast_weight_unit = 110 };

/// The maximum number of source rows for one row.
enum { upcast_greatest_taps = 12 };

/// The source of one row: `count` rows from `first` on, with the weights from `weights` on. The weights add up to
/// `upcast_weight_unit`, and each pair of neighbours to -128...128. A 0 follows an odd number of weights.
struct upcast_taps {
    int32_t first;
    int32_t count;
    int32_t weights;
};

/// Adds up `count` weighted rows of `width` samples, and rounds and clamps the sum. Weights are as in `upcast_taps`.
void upcast_filter_rows(
    int avx2, const uint8_t *const *rows, const int8_t *weights, int count, uint8_t *out, int width);

/// Computes `count` rows of `width` samples, at most a strip, from a plane whose rows are one strip wide and have no
/// gaps. Reads one more row, but does not use it.
void upcast_filter_strip(
    int avx2, const uint8_t *strip, int width, const struct upcast_taps *taps, const int8_t *weights, int count,
    uint8_t *out, ptrdiff_t outStride);

/// Turns rows into columns: the sample at (x, y) goes to (y, x), for x < columns and y < rows. Reads whole blocks of
/// 16x16.
void upcast_transpose(
    int avx2, const uint8_t *plane, ptrdiff_t stride, int columns, int rows, uint8_t *out, ptrdiff_t outStride);

/// The number of samples of a row that are computed at once, in two lanes of eight.
enum { upcast_row_block_width = 16 };

/// Scales a row along itself; requires AVX2. Each sample is the sum of `pairs` pairs of neighbours, which come from one
/// or two windows of 16 samples in each lane. For each further pair, the windows lie 2 samples further on. For each
/// block of 16 samples:
///
/// - `starts`: where the windows of both lanes begin, then, if there are two for each lane, the second ones.
/// - `shuffles`: 32 bytes for each window, two a sample: the pair's places, or 0x80 if they are in the other window.
/// - `weights`: 32 bytes for each pair, two a sample; as in `upcast_taps`.
///
/// Reads up to 16 + 2 * pairs bytes from the last sample on.
void upcast_scale_row(
    const uint8_t *row, const int32_t *starts, const uint8_t *shuffles, const int8_t *weights, int windows,
    int pairs, uint8_t *out, int width);
