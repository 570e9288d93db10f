/// The functions in use of libsystemd: sd-bus, for the buses of D-Bus.
#ifndef UPCAST_BUS_H
#define UPCAST_BUS_H

#include <CLoader.h>
#include <systemd/sd-bus.h>

#define UPCAST_BUS_FUNCTIONS(F) \
    F(sd_bus_open_system) \
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
    F(sd_bus_match_signal) \
    F(sd_bus_call) \
    F(sd_bus_call_async) \
    F(sd_bus_call_method) \
    F(sd_bus_get_property) \
    F(sd_bus_get_property_trivial) \
    F(sd_bus_error_free) \
    F(sd_bus_slot_unref) \
    F(sd_bus_message_new_method_call) \
    F(sd_bus_message_append) \
    F(sd_bus_message_open_container) \
    F(sd_bus_message_close_container) \
    F(sd_bus_message_enter_container) \
    F(sd_bus_message_exit_container) \
    F(sd_bus_message_peek_type) \
    F(sd_bus_message_read) \
    F(sd_bus_message_set_auto_start) \
    F(sd_bus_message_skip) \
    F(sd_bus_message_get_error) \
    F(sd_bus_message_get_interface) \
    F(sd_bus_message_get_member) \
    F(sd_bus_message_get_path) \
    F(sd_bus_message_get_sender) \
    F(sd_bus_message_unref)

typedef UPCAST_LOADER_TABLE(UPCAST_BUS_FUNCTIONS) upcast_bus_library;

/// Loads libsystemd once; NULL if it is missing, or lacks a function. It stays loaded.
const upcast_bus_library *upcast_bus_load(void);

/// Opens a bus, and waits until it accepts questions. libsystemd itself would wait without a limit, or for a minute and
/// a half.
///
/// @param open_bus       `sd_bus_open_system` or `sd_bus_open_user` of the library.
/// @param stop           a descriptor; once it is readable, the wait ends. -1 for none.
/// @param patience_msec  how long the bus may take.
/// @param answer_msec    how long each answer may take, except where a call has its own limit.
/// @param bus            NULL after an error.
/// Returns 1, or libsystemd's error; -ETIMEDOUT if the bus does not answer, -ECANCELED because of `stop`.
int upcast_bus_open(
    const upcast_bus_library *l, int (*open_bus)(sd_bus **), int stop, int patience_msec, int answer_msec,
    sd_bus **bus);

/// Closes a bus, and sets it to NULL. Messages that wait to be sent are discarded.
///
/// @param bus  may be NULL already.
void upcast_bus_close(const upcast_bus_library *l, sd_bus **bus);

#endif
