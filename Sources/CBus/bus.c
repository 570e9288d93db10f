#include "CBus.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>

static int wait_until_ready(const upcast_bus_library *l, sd_bus *bus, int stop, int patience) {
    const int64_t deadline = upcast_now_msec() + patience;
    for (;;) {
        int status;
        while ((status = l->sd_bus_process(bus, NULL)) > 0) {}
        if (status < 0) return status;
        status = l->sd_bus_is_ready(bus);
        if (status != 0) return status;
        const int64_t left = deadline - upcast_now_msec();
        const int events = l->sd_bus_get_events(bus);
        if (left <= 0) return -ETIMEDOUT;
        if (events < 0) return events;
        struct pollfd waiting[] = {
            {.fd = l->sd_bus_get_fd(bus), .events = (short)events}, {.fd = stop, .events = POLLIN}};
        poll(waiting, 2, (int)left);
        if (waiting[1].revents) return -ECANCELED;
    }
}

int upcast_bus_open(
    const upcast_bus_library *l, int (*open_bus)(sd_bus **), int stop, int patience_msec, int answer_msec,
    sd_bus **bus) {
    *bus = NULL;
    int status = open_bus(bus);
    if (status < 0) {
        *bus = NULL;
        // The daemon's queue of connections is full, because its process is stopped.
        return status == -EAGAIN ? -ETIMEDOUT : status;
    }
    status = wait_until_ready(l, *bus, stop, patience_msec);
    if (status < 0)
        upcast_bus_close(l, bus);
    else
        l->sd_bus_set_method_call_timeout(*bus, (uint64_t)answer_msec * 1000);
    return status;
}

void upcast_bus_close(const upcast_bus_library *l, sd_bus **bus) {
    if (!*bus) return;
    l->sd_bus_close(*bus);
    l->sd_bus_unref(*bus);
    *bus = NULL;
}
