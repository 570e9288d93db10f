#ifndef UPCAST_PULSE_CONNECTION_H
#define UPCAST_PULSE_CONNECTION_H

#include "CPulse.h"
#include "library.h"

struct upcast_pulse {
    const upcast_pulse_library *l;
    pa_mainloop *loop;
    pa_context *context;
    pa_io_event *stop_event;
    bool is_stopping, has_changed;
    /// The first of its streams.
    upcast_pulse_stream *streams;
    /// The time for an answer, in milliseconds.
    int patience;
};

/// Runs the main loop until something happens, or CLOCK_MONOTONIC reaches the deadline. Returns the results of
/// `upcast_pulse_wait`, or UPCAST_PULSE_SILENT.
int upcast_pulse_wait_until(upcast_pulse *p, int64_t deadline_msec);
/// The deadline for the answer to a question that is asked now.
int64_t upcast_pulse_deadline(const upcast_pulse *p);

/// Notes that the server has changed the stream with this index, if it is one of these.
void upcast_pulse_note_change(upcast_pulse *p, uint32_t index);

/// Copies zero-terminated text, cut to the size of the array.
void upcast_pulse_copy(char *target, size_t capacity, const char *text);

#endif
