/// The clock of all deadlines in C.
#ifndef UPCAST_CLOCK_H
#define UPCAST_CLOCK_H

#include <stdint.h>
#include <time.h>

/// CLOCK_MONOTONIC in nanoseconds.
static inline int64_t upcast_now_nsec(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/// CLOCK_MONOTONIC in milliseconds.
static inline int64_t upcast_now_msec(void) { return upcast_now_nsec() / 1000000; }

#endif
