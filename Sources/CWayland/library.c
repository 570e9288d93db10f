#include "library.h"

#include "CWayland.h"

#include <dlfcn.h>
#include <pthread.h>

static upcast_wl_library library;
static int failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libwayland-client.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        failure = UPCAST_WL_NO_LIBRARY;
        return;
    }
    const struct {
        const char *name;
        void **function;
    } wanted[] = {
        {"wl_display_connect", (void **)&library.display_connect},
        {"wl_display_disconnect", (void **)&library.display_disconnect},
        {"wl_display_get_fd", (void **)&library.display_get_fd},
        {"wl_display_get_error", (void **)&library.display_get_error},
        {"wl_display_get_protocol_error", (void **)&library.display_get_protocol_error},
        {"wl_display_flush", (void **)&library.display_flush},
        {"wl_display_roundtrip", (void **)&library.display_roundtrip},
        {"wl_display_prepare_read", (void **)&library.display_prepare_read},
        {"wl_display_read_events", (void **)&library.display_read_events},
        {"wl_display_cancel_read", (void **)&library.display_cancel_read},
        {"wl_display_dispatch_pending", (void **)&library.display_dispatch_pending},
        // Since 1.20, of December 2021.
        {"wl_proxy_marshal_array_flags", (void **)&library.proxy_marshal},
        {"wl_proxy_add_dispatcher", (void **)&library.proxy_add_dispatcher},
        {"wl_proxy_destroy", (void **)&library.proxy_destroy},
        {"wl_proxy_get_version", (void **)&library.proxy_get_version},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].function = dlsym(handle, wanted[i].name);
        if (!*wanted[i].function) failure = UPCAST_WL_OLD_LIBRARY;
    }
}

const upcast_wl_library *upcast_wl_load(int *error) {
    pthread_once(&once, load);
    *error = failure;
    return failure ? NULL : &library;
}
