#include "connection.h"

#include <string.h>

struct reading {
    const upcast_pulse_library *l;
    upcast_pulse_facts *facts;
};

#define ROOM(array, count) ((count) < sizeof(array) / sizeof(array)[0])

static void take_server(pa_context *c, const pa_server_info *info, void *data) {
    (void)c;
    struct reading *r = data;
    if (!info) return;
    upcast_pulse_copy(r->facts->server_name, sizeof r->facts->server_name, info->server_name);
    upcast_pulse_copy(r->facts->default_sink, sizeof r->facts->default_sink, info->default_sink_name);
    upcast_pulse_copy(r->facts->default_source, sizeof r->facts->default_source, info->default_source_name);
}

static void take_device(
    upcast_pulse_device *device, uint32_t index, const char *name, const char *description, uint32_t monitor_of,
    uint64_t latency_usec) {
    device->index = index;
    device->monitor_of = monitor_of;
    device->latency_usec = latency_usec;
    upcast_pulse_copy(device->name, sizeof device->name, name);
    upcast_pulse_copy(device->description, sizeof device->description, description);
}

static void take_sink(pa_context *c, const pa_sink_info *info, int is_end, void *data) {
    (void)c;
    upcast_pulse_facts *f = ((struct reading *)data)->facts;
    if (is_end || !ROOM(f->sinks, f->sink_count)) return;
    take_device(
        &f->sinks[f->sink_count++], info->index, info->name, info->description, UPCAST_PULSE_NONE, info->latency);
}

static void take_source(pa_context *c, const pa_source_info *info, int is_end, void *data) {
    (void)c;
    upcast_pulse_facts *f = ((struct reading *)data)->facts;
    if (is_end || !ROOM(f->sources, f->source_count)) return;
    take_device(
        &f->sources[f->source_count++], info->index, info->name, info->description, info->monitor_of_sink, 0);
}

static void take_playback(pa_context *c, const pa_sink_input_info *info, int is_end, void *data) {
    (void)c;
    struct reading *r = data;
    upcast_pulse_facts *f = r->facts;
    if (is_end || !ROOM(f->playbacks, f->playback_count)) return;
    upcast_pulse_playback *playback = &f->playbacks[f->playback_count++];
    playback->index = info->index;
    playback->sink = info->sink;
    const char *name = r->l->pa_proplist_gets(info->proplist, PA_PROP_APPLICATION_NAME);
    const char *binary = r->l->pa_proplist_gets(info->proplist, PA_PROP_APPLICATION_PROCESS_BINARY);
    upcast_pulse_copy(playback->application, sizeof playback->application, name);
    upcast_pulse_copy(playback->binary, sizeof playback->binary, binary);
}

int upcast_pulse_read(upcast_pulse *p, upcast_pulse_facts *facts) {
    const upcast_pulse_library *l = p->l;
    memset(facts, 0, sizeof *facts);
    p->has_changed = false;
    struct reading reading = {l, facts};
    pa_operation *operations[] = {
        l->pa_context_get_server_info(p->context, take_server, &reading),
        l->pa_context_get_sink_info_list(p->context, take_sink, &reading),
        l->pa_context_get_source_info_list(p->context, take_source, &reading),
        l->pa_context_get_sink_input_info_list(p->context, take_playback, &reading),
    };
    const size_t count = sizeof operations / sizeof operations[0];
    const int64_t deadline = upcast_pulse_deadline(p);
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        if (!operations[i]) status = -1;
        while (status == 0 && l->pa_operation_get_state(operations[i]) == PA_OPERATION_RUNNING)
            status = upcast_pulse_wait_until(p, deadline);
    }
    // No callback may write to `reading` any more.
    for (size_t i = 0; i < count; i++) {
        if (!operations[i]) continue;
        if (status != 0) l->pa_operation_cancel(operations[i]);
        l->pa_operation_unref(operations[i]);
    }
    return status;
}
