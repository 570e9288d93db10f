#ifndef UPCAST_PULSE_LIBRARY_H
#define UPCAST_PULSE_LIBRARY_H

#include <CLoader.h>
#include <pulse/pulseaudio.h>

// The functions in use of libpulse.
#define UPCAST_PULSE_FUNCTIONS(F) \
    F(pa_mainloop_new) \
    F(pa_mainloop_free) \
    F(pa_mainloop_get_api) \
    F(pa_mainloop_prepare) \
    F(pa_mainloop_poll) \
    F(pa_mainloop_dispatch) \
    F(pa_context_new) \
    F(pa_context_unref) \
    F(pa_context_connect) \
    F(pa_context_disconnect) \
    F(pa_context_get_state) \
    F(pa_context_errno) \
    F(pa_context_set_subscribe_callback) \
    F(pa_context_subscribe) \
    F(pa_context_get_server_info) \
    F(pa_context_get_sink_info_list) \
    F(pa_context_get_source_info_list) \
    F(pa_context_get_sink_input_info_list) \
    F(pa_context_get_source_output_info) \
    F(pa_operation_cancel) \
    F(pa_operation_get_state) \
    F(pa_operation_unref) \
    F(pa_proplist_new) \
    F(pa_proplist_free) \
    F(pa_proplist_gets) \
    F(pa_proplist_sets) \
    F(pa_stream_new_with_proplist) \
    F(pa_stream_unref) \
    F(pa_stream_set_monitor_stream) \
    F(pa_stream_connect_record) \
    F(pa_stream_disconnect) \
    F(pa_stream_get_state) \
    F(pa_stream_get_index) \
    F(pa_stream_peek) \
    F(pa_stream_drop) \
    F(pa_stream_readable_size) \
    F(pa_stream_update_timing_info) \
    F(pa_stream_get_timing_info) \
    F(pa_stream_set_suspended_callback) \
    F(pa_stream_set_moved_callback) \
    F(pa_stream_set_overflow_callback) \
    F(pa_strerror)

typedef UPCAST_LOADER_TABLE(UPCAST_PULSE_FUNCTIONS) upcast_pulse_library;

/// Loads libpulse once; NULL if it is missing, or lacks a function. It stays loaded.
const upcast_pulse_library *upcast_pulse_load(void);

#endif
