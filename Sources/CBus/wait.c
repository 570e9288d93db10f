#include "CBus.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>

int upcast_bus_wait(const upcast_bus_library *l, sd_bus *bus, int stop, int patience) {
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
