#pragma once

// Every x86-64 has SSE2; most have AVX2, which does twice as much at once.
#if defined(__x86_64__)
#include <immintrin.h>
#define FOR_AVX2 __attribute__((target("avx2")))
#endif

#define INLINE static inline __attribute__((always_inline))
