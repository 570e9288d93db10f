#pragma once
#include <stddef.h>
#include <stdint.h>

// Sums of weighted rows, and planes turned over their diagonal: what scaling and turning come down to. In C for
// its vector types, and because one function can be compiled for several generations of a processor. `avx2` asks for
// the version with AVX2 where it is 1, and is allowed only where `upcast_has_avx2`; all versions give the same samples.

/// 1 where this processor has AVX2.
int upcast_has_avx2(void);

/// 0 where this processor is an x86-64 without SSSE3, and 1 everywhere else.
int upcast_has_ssse3(void);

/// Samples that are worked on at once: a cache line. Rows are read up to the next multiple of it; nothing is written
/// beyond what is asked for.
enum { upcast_strip_width = 64 };

/// What the weights of a sample add up to. A pair of neighbours is added up in 16 bits with a sign, so their weights
/// may add up to 128. They add up to at most 1.15 times this.
enum { upcast_weight_unit = 110 };

/// Rows that one row is made of at most.
enum { upcast_greatest_taps = 12 };

/// What one row is made of: `count` rows from `first` on, with the weights from `weights` on. They add up to
/// `upcast_weight_unit`; each pair of neighbours adds up to -128...128. An odd number of weights is followed by a 0.
struct upcast_taps {
    int32_t first;
    int32_t count;
    int32_t weights;
};

/// Adds up `count` weighted rows of `width` samples, and rounds and clamps the sum. Weights are as in `upcast_taps`.
void upcast_filter_rows(
    int avx2, const uint8_t *const *rows, const int8_t *weights, int count, uint8_t *out, int width);

/// Makes `count` rows of `width` samples, at most a strip, of a plane whose rows are one strip wide and lie one behind
/// the other. One more row is read, but not used.
void upcast_filter_strip(
    int avx2, const uint8_t *strip, int width, const struct upcast_taps *taps, const int8_t *weights, int count,
    uint8_t *out, ptrdiff_t outStride);

/// Rows become columns: the sample at (x, y) goes to (y, x), for x < columns and y < rows. Reads whole blocks of
/// 16x16.
void upcast_transpose(
    int avx2, const uint8_t *plane, ptrdiff_t stride, int columns, int rows, uint8_t *out, ptrdiff_t outStride);

/// Samples of a row that are made at once, in two lanes of eight.
enum { upcast_row_block_width = 16 };

/// Scales a row along itself, with AVX2 only. Each sample is made of `pairs` pairs of neighbours, which come from one
/// or two windows of 16 samples a lane; for each further pair they lie 2 samples further on. For each block of 16
/// samples:
///
/// - `starts`: where the windows of both lanes begin, then, if there are two, the second ones.
/// - `shuffles`: 32 bytes for each window, two a sample: the pair's places, or 0x80 if they are in the other window.
/// - `weights`: 32 bytes for each pair, two a sample; as in `upcast_taps`.
///
/// Up to 16 + 2 * pairs bytes from the last sample on are read.
void upcast_scale_row(
    const uint8_t *row, const int32_t *starts, const uint8_t *shuffles, const int8_t *weights, int windows,
    int pairs, uint8_t *out, int width);
