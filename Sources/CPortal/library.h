#ifndef UPCAST_PORTAL_LIBRARY_H
#define UPCAST_PORTAL_LIBRARY_H

#include <systemd/sd-bus.h>

// What is used of libsystemd.
#define UPCAST_PORTAL_FUNCTIONS(F) \
    F(sd_bus_open_user) \
    F(sd_bus_flush_close_unref) \
    F(sd_bus_close) \
    F(sd_bus_unref) \
    F(sd_bus_is_ready) \
    F(sd_bus_set_method_call_timeout) \
    F(sd_bus_get_fd) \
    F(sd_bus_get_events) \
    F(sd_bus_get_timeout) \
    F(sd_bus_get_unique_name) \
    F(sd_bus_process) \
    F(sd_bus_flush) \
    F(sd_bus_send) \
    F(sd_bus_add_match) \
    F(sd_bus_call_async) \
    F(sd_bus_slot_unref) \
    F(sd_bus_message_new_method_call) \
    F(sd_bus_message_append) \
    F(sd_bus_message_open_container) \
    F(sd_bus_message_close_container) \
    F(sd_bus_message_enter_container) \
    F(sd_bus_message_exit_container) \
    F(sd_bus_message_peek_type) \
    F(sd_bus_message_read) \
    F(sd_bus_message_skip) \
    F(sd_bus_message_get_error) \
    F(sd_bus_message_get_path) \
    F(sd_bus_message_get_sender) \
    F(sd_bus_message_unref)

typedef struct {
#define UPCAST_PORTAL_MEMBER(name) __typeof__(name) *name;
    UPCAST_PORTAL_FUNCTIONS(UPCAST_PORTAL_MEMBER)
#undef UPCAST_PORTAL_MEMBER
} upcast_portal_library;

/// Loads libsystemd, once; NULL if it is not there, or lacks a function. Stays loaded.
const upcast_portal_library *upcast_portal_load(void);

#endif
