#ifndef UPCAST_SESSION_LIBRARY_H
#define UPCAST_SESSION_LIBRARY_H

#include <systemd/sd-bus.h>

// What is used of libsystemd.
#define UPCAST_SESSION_FUNCTIONS(F) \
    F(sd_bus_open_system) \
    F(sd_bus_open_user) \
    F(sd_bus_close) \
    F(sd_bus_unref) \
    F(sd_bus_get_fd) \
    F(sd_bus_get_events) \
    F(sd_bus_is_ready) \
    F(sd_bus_set_method_call_timeout) \
    F(sd_bus_match_signal) \
    F(sd_bus_process) \
    F(sd_bus_call_method) \
    F(sd_bus_get_property) \
    F(sd_bus_get_property_trivial) \
    F(sd_bus_error_free) \
    F(sd_bus_message_get_interface) \
    F(sd_bus_message_read) \
    F(sd_bus_message_unref)

typedef struct {
#define UPCAST_SESSION_MEMBER(name) __typeof__(name) *name;
    UPCAST_SESSION_FUNCTIONS(UPCAST_SESSION_MEMBER)
#undef UPCAST_SESSION_MEMBER
} upcast_session_library;

/// Loads libsystemd, once; NULL if it is not there, or lacks a function. Stays loaded.
const upcast_session_library *upcast_session_load(void);

#endif
