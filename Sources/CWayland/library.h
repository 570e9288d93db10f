#ifndef UPCAST_WAYLAND_LIBRARY_H
#define UPCAST_WAYLAND_LIBRARY_H

#include <CLoader.h>
#include <wayland-client-core.h>

// The functions in use of libwayland-client. Its headers give the types; the library is not linked.
#define UPCAST_WL_FUNCTIONS(F) \
    F(wl_display_connect) \
    F(wl_display_disconnect) \
    F(wl_display_get_fd) \
    F(wl_display_get_error) \
    F(wl_display_get_protocol_error) \
    F(wl_display_flush) \
    F(wl_display_roundtrip) \
    F(wl_display_prepare_read) \
    F(wl_display_read_events) \
    F(wl_display_cancel_read) \
    F(wl_display_dispatch_pending) \
    /* Since 1.20, of December 2021. */ \
    F(wl_proxy_marshal_array_flags) \
    F(wl_proxy_add_dispatcher) \
    F(wl_proxy_destroy) \
    F(wl_proxy_get_version)

typedef UPCAST_LOADER_TABLE(UPCAST_WL_FUNCTIONS) upcast_wl_library;

/// Loads the library once. NULL and an upcast_wl_error if it is missing or too old. Any thread. It stays loaded.
const upcast_wl_library *upcast_wl_load(int *error);

#endif
