#include "connection.h"

#include <stdlib.h>
#include <string.h>

int64_t upcast_pulse_deadline(const upcast_pulse *p) { return upcast_now_msec() + p->patience; }

int upcast_pulse_wait_until(upcast_pulse *p, int64_t deadline_msec) {
    const int64_t left = deadline_msec - upcast_now_msec();
    return left <= 0 ? UPCAST_PULSE_SILENT : upcast_pulse_wait(p, (int)left);
}

static void take_stop(pa_mainloop_api *api, pa_io_event *event, int fd, pa_io_event_flags_t flags, void *data) {
    (void)fd, (void)flags;
    upcast_pulse *p = data;
    p->is_stopping = true;
    // The descriptor stays readable.
    api->io_enable(event, PA_IO_EVENT_NULL);
}

static void take_change(pa_context *c, pa_subscription_event_type_t type, uint32_t index, void *data) {
    (void)c;
    upcast_pulse *p = data;
    // Changes of volume are frequent, and do not matter. But a program's playback may move to another sink.
    int facility = type & PA_SUBSCRIPTION_EVENT_FACILITY_MASK, kind = type & PA_SUBSCRIPTION_EVENT_TYPE_MASK;
    if (facility == PA_SUBSCRIPTION_EVENT_SOURCE_OUTPUT) {
        if (kind == PA_SUBSCRIPTION_EVENT_CHANGE) upcast_pulse_note_change(p, index);
        return;
    }
    bool is_device = facility == PA_SUBSCRIPTION_EVENT_SINK || facility == PA_SUBSCRIPTION_EVENT_SOURCE;
    if (!is_device || kind != PA_SUBSCRIPTION_EVENT_CHANGE) p->has_changed = true;
}

/// Waits until the server has answered or refused. Returns 0, libpulse's code, or an `upcast_pulse_open_error`.
static int connect_to(upcast_pulse *p, const char *server) {
    const upcast_pulse_library *l = p->l;
    if (l->pa_context_connect(p->context, server, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0)
        return l->pa_context_errno(p->context);
    const int64_t deadline = upcast_pulse_deadline(p);
    while (l->pa_context_get_state(p->context) != PA_CONTEXT_READY) {
        if (!PA_CONTEXT_IS_GOOD(l->pa_context_get_state(p->context))) return l->pa_context_errno(p->context);
        const int status = upcast_pulse_wait_until(p, deadline);
        if (status == UPCAST_PULSE_SILENT) return status;
        if (status != 0) return p->is_stopping ? UPCAST_PULSE_STOPPED : l->pa_context_errno(p->context);
    }
    l->pa_context_set_subscribe_callback(p->context, take_change, p);
    pa_operation *operation = l->pa_context_subscribe(
        p->context,
        PA_SUBSCRIPTION_MASK_SINK | PA_SUBSCRIPTION_MASK_SOURCE | PA_SUBSCRIPTION_MASK_SINK_INPUT |
            PA_SUBSCRIPTION_MASK_SOURCE_OUTPUT | PA_SUBSCRIPTION_MASK_SERVER,
        NULL, NULL);
    if (!operation) return l->pa_context_errno(p->context);
    l->pa_operation_unref(operation);
    return 0;
}

/// The `upcast_pulse_open_error` for a code of libpulse; otherwise the code itself.
static int meaning(int error) {
    switch (error) {
    case PA_ERR_CONNECTIONREFUSED: return UPCAST_PULSE_REFUSED;
    case PA_ERR_ACCESS:
    case PA_ERR_AUTHKEY: return UPCAST_PULSE_DENIED;
    case PA_ERR_CONNECTIONTERMINATED:
    case PA_ERR_KILLED: return UPCAST_PULSE_ENDED;
    case PA_ERR_TIMEOUT: return UPCAST_PULSE_SILENT;
    default: return error;
    }
}

upcast_pulse *upcast_pulse_open(const char *server, int stop, int patience, int *error) {
    const upcast_pulse_library *l = upcast_pulse_load();
    *error = UPCAST_PULSE_NO_LIBRARY;
    if (!l) return NULL;
    *error = UPCAST_PULSE_NO_MEMORY;
    upcast_pulse *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->l = l;
    p->patience = patience;
    p->loop = l->pa_mainloop_new();
    pa_mainloop_api *api = p->loop ? l->pa_mainloop_get_api(p->loop) : NULL;
    p->context = api ? l->pa_context_new(api, "upcast-screen") : NULL;
    p->stop_event = api ? api->io_new(api, stop, PA_IO_EVENT_INPUT, take_stop, p) : NULL;
    if (p->context && p->stop_event) *error = meaning(connect_to(p, server));
    if (*error == 0) return p;
    upcast_pulse_close(p);
    return NULL;
}

void upcast_pulse_close(upcast_pulse *p) {
    const upcast_pulse_library *l = p->l;
    if (p->context) {
        l->pa_context_disconnect(p->context);
        l->pa_context_unref(p->context);
    }
    if (p->stop_event) l->pa_mainloop_get_api(p->loop)->io_free(p->stop_event);
    if (p->loop) l->pa_mainloop_free(p->loop);
    free(p);
}

const char *upcast_pulse_error_text(int error) {
    const upcast_pulse_library *l = upcast_pulse_load();
    return l ? l->pa_strerror(error) : "";
}

int upcast_pulse_wait(upcast_pulse *p, int milliseconds) {
    const upcast_pulse_library *l = p->l;
    if (p->is_stopping) return 1;
    int timeout = milliseconds < 0 ? -1 : milliseconds * 1000;
    // A signal interrupts poll(), but another thread handles it.
    if (l->pa_mainloop_prepare(p->loop, timeout) < 0 || l->pa_mainloop_poll(p->loop) < 0 ||
        l->pa_mainloop_dispatch(p->loop) < 0)
        return -1;
    if (p->is_stopping) return 1;
    return PA_CONTEXT_IS_GOOD(l->pa_context_get_state(p->context)) ? 0 : -1;
}

bool upcast_pulse_has_changed(upcast_pulse *p) { return p->has_changed; }

void upcast_pulse_copy(char *target, size_t capacity, const char *text) {
    size_t length = text ? strnlen(text, capacity - 1) : 0;
    if (length) memcpy(target, text, length);
    target[length] = 0;
}
