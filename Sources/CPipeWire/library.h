#ifndef UPCAST_PIPEWIRE_LIBRARY_H
#define UPCAST_PIPEWIRE_LIBRARY_H

#include <CLoader.h>
#include <pipewire/pipewire.h>

// The functions in use of libpipewire. Macros and inline functions of its headers are not listed.
#define UPCAST_PIPEWIRE_FUNCTIONS(F) \
    F(pw_init) \
    F(pw_log_set_level) \
    F(pw_loop_new) \
    F(pw_loop_destroy) \
    F(pw_context_new) \
    F(pw_context_destroy) \
    F(pw_context_connect_fd) \
    F(pw_core_disconnect) \
    F(pw_proxy_destroy) \
    F(pw_properties_new) \
    F(pw_stream_new) \
    F(pw_stream_add_listener) \
    F(pw_stream_connect) \
    F(pw_stream_destroy) \
    F(pw_stream_update_params) \
    F(pw_stream_set_active) \
    F(pw_stream_dequeue_buffer) \
    F(pw_stream_queue_buffer)

typedef UPCAST_LOADER_TABLE(UPCAST_PIPEWIRE_FUNCTIONS) upcast_pipewire_library;

/// Loads libpipewire once; NULL if it is missing, or lacks a function. It stays loaded.
const upcast_pipewire_library *upcast_pipewire_load(void);

#endif
