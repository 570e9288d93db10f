#define _GNU_SOURCE
#include "CRTMPSocket.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct upcast_control {
    _Atomic int64_t limit_ns;
    int wake_fd;
};

static int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

upcast_control *upcast_control_create(void) {
    upcast_control *control = malloc(sizeof *control);
    if (!control) return NULL;
    atomic_init(&control->limit_ns, INT64_MAX);
    control->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (control->wake_fd >= 0) return control;
    int error = errno;
    free(control);
    errno = error;
    return NULL;
}

void upcast_control_destroy(upcast_control *control) {
    close(control->wake_fd);
    free(control);
}

void upcast_control_limit(upcast_control *control, int64_t limit_ns) {
    int64_t old = atomic_load(&control->limit_ns);
    while (limit_ns < old && !atomic_compare_exchange_weak(&control->limit_ns, &old, limit_ns)) {}
    eventfd_write(control->wake_fd, 1);
}

int upcast_control_is_over(upcast_control *control) { return atomic_load(&control->limit_ns) <= monotonic_ns(); }

enum upcast_wait upcast_control_wait_any(
    upcast_control *control, const int *fds, int count, short events, int64_t deadline_ns, unsigned *ready
) {
    *ready = 0;
    for (;;) {
        int64_t now = monotonic_ns(), limit_ns = atomic_load(&control->limit_ns);
        if (limit_ns <= now) return UPCAST_WAIT_CANCELLED;
        if (deadline_ns <= now) return UPCAST_WAIT_TIMEOUT;
        int64_t left = (deadline_ns < limit_ns ? deadline_ns : limit_ns) - now;
        struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        struct pollfd polled[1 + UPCAST_WAIT_MAXIMUM] = {{.fd = control->wake_fd, .events = POLLIN}};
        if (count > UPCAST_WAIT_MAXIMUM) count = UPCAST_WAIT_MAXIMUM;
        for (int i = 0; i < count; i++) polled[1 + i] = (struct pollfd){.fd = fds[i], .events = events};
        int changed = ppoll(polled, (nfds_t)(1 + count), &timeout, NULL);
        if (changed < 0 && errno != EINTR) {
            // An error of ppoll itself is permanent (bad pointer, no memory). The caller's next call reports more.
            *ready = (1u << count) - 1;
            return UPCAST_WAIT_READY;
        }
        if (changed <= 0) continue;
        if (polled[0].revents) {
            eventfd_t ignored;
            eventfd_read(control->wake_fd, &ignored);
            continue;
        }
        for (int i = 0; i < count; i++) *ready |= polled[1 + i].revents ? 1u << i : 0;
        return UPCAST_WAIT_READY;
    }
}

enum upcast_wait upcast_control_wait(upcast_control *control, int fd, short events, int64_t deadline_ns) {
    unsigned ready;
    return upcast_control_wait_any(control, &fd, 1, events, deadline_ns, &ready);
}
