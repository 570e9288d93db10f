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
};

/// Bytes of zero-terminated text, cut at the array's end.
void upcast_pulse_copy(char *target, size_t capacity, const char *text);

#endif
