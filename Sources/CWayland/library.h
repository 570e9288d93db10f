#ifndef UPCAST_WAYLAND_LIBRARY_H
#define UPCAST_WAYLAND_LIBRARY_H

#include <wayland-client-core.h>

/// What is used of libwayland-client. Its headers give the types; nothing is linked.
typedef struct {
    __typeof__(wl_display_connect) *display_connect;
    __typeof__(wl_display_disconnect) *display_disconnect;
    __typeof__(wl_display_get_fd) *display_get_fd;
    __typeof__(wl_display_get_error) *display_get_error;
    __typeof__(wl_display_get_protocol_error) *display_get_protocol_error;
    __typeof__(wl_display_flush) *display_flush;
    __typeof__(wl_display_roundtrip) *display_roundtrip;
    __typeof__(wl_display_prepare_read) *display_prepare_read;
    __typeof__(wl_display_read_events) *display_read_events;
    __typeof__(wl_display_cancel_read) *display_cancel_read;
    __typeof__(wl_display_dispatch_pending) *display_dispatch_pending;
    __typeof__(wl_proxy_marshal_array_flags) *proxy_marshal;
    __typeof__(wl_proxy_add_dispatcher) *proxy_add_dispatcher;
    __typeof__(wl_proxy_destroy) *proxy_destroy;
    __typeof__(wl_proxy_get_version) *proxy_get_version;
} upcast_wl_library;

/// Loads the library, once. NULL and an upcast_wl_error if it is not there. Any thread.
const upcast_wl_library *upcast_wl_load(int *error);

#endif
