#include "connection.h"

#include <stdlib.h>

struct upcast_pulse_stream {
    const upcast_pulse_library *l;
    upcast_pulse *owner;
    pa_context *context;
    pa_stream *stream;
    /// The next stream of the connection.
    upcast_pulse_stream *next;
    int64_t position;
    size_t peeked;
    uint32_t breaks;
    bool has_changed;
    int64_t changed_at;
    /// The questions that have no answer yet.
    pa_operation *asking, *asking_delay;
    bool has_timing;
    upcast_pulse_timing timing;
};

static bool is_ready(upcast_pulse_stream *s) { return s->l->pa_stream_get_state(s->stream) == PA_STREAM_READY; }

static void take_break(pa_stream *stream, void *data) {
    (void)stream;
    ((upcast_pulse_stream *)data)->breaks++;
}

upcast_pulse_stream *upcast_pulse_record(
    upcast_pulse *p, const char *source, uint32_t playback, int channels, uint32_t fragment_bytes) {
    const upcast_pulse_library *l = p->l;
    upcast_pulse_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->l = l;
    s->context = p->context;
    const pa_sample_spec spec = {.format = PA_SAMPLE_S16LE, .rate = 48000, .channels = (uint8_t)channels};
    // If its source has gone in the meantime, PipeWire would link the stream to another one, such as the microphone.
    // PulseAudio refuses it.
    pa_proplist *properties = l->pa_proplist_new();
    if (properties) l->pa_proplist_sets(properties, "node.dont-fallback", "true");
    s->stream = properties ? l->pa_stream_new_with_proplist(p->context, "broadcast", &spec, NULL, properties) : NULL;
    if (properties) l->pa_proplist_free(properties);
    if (!s->stream) {
        free(s);
        return NULL;
    }
    l->pa_stream_set_suspended_callback(s->stream, take_break, s);
    l->pa_stream_set_moved_callback(s->stream, take_break, s);
    l->pa_stream_set_overflow_callback(s->stream, take_break, s);
    // By default, two seconds would come at once. The server keeps two seconds for a program that does not read.
    const pa_buffer_attr attributes = {
        .maxlength = spec.rate * 2 * (uint32_t)channels * 2,
        .fragsize = fragment_bytes,
        .tlength = (uint32_t)-1,
        .prebuf = (uint32_t)-1,
        .minreq = (uint32_t)-1,
    };
    // If the server may move a stream, the stream ends up at a microphone when its sink goes.
    const pa_stream_flags_t flags = PA_STREAM_ADJUST_LATENCY | PA_STREAM_DONT_MOVE;
    if ((playback != UPCAST_PULSE_NONE && l->pa_stream_set_monitor_stream(s->stream, playback) < 0) ||
        l->pa_stream_connect_record(s->stream, source, &attributes, flags) < 0) {
        l->pa_stream_unref(s->stream);
        free(s);
        return NULL;
    }
    s->owner = p;
    s->next = p->streams;
    p->streams = s;
    return s;
}

void upcast_pulse_note_change(upcast_pulse *p, uint32_t index) {
    for (upcast_pulse_stream *s = p->streams; s; s = s->next)
        if (is_ready(s) && p->l->pa_stream_get_index(s->stream) == index) {
            s->has_changed = true;
            s->changed_at = s->position + (int64_t)p->l->pa_stream_readable_size(s->stream);
        }
}

static void end_asking(const upcast_pulse_library *l, pa_operation **asking) {
    if (*asking) l->pa_operation_unref(*asking);
    *asking = NULL;
}

void upcast_pulse_end(upcast_pulse_stream *s) {
    for (upcast_pulse_stream **at = &s->owner->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    // The answers may come before libpulse has released the stream.
    if (s->asking) s->l->pa_operation_cancel(s->asking);
    if (s->asking_delay) s->l->pa_operation_cancel(s->asking_delay);
    end_asking(s->l, &s->asking);
    end_asking(s->l, &s->asking_delay);
    s->l->pa_stream_set_suspended_callback(s->stream, NULL, NULL);
    s->l->pa_stream_set_moved_callback(s->stream, NULL, NULL);
    s->l->pa_stream_set_overflow_callback(s->stream, NULL, NULL);
    s->l->pa_stream_disconnect(s->stream);
    s->l->pa_stream_unref(s->stream);
    free(s);
}

bool upcast_pulse_has_ended(upcast_pulse_stream *s) {
    return !PA_STREAM_IS_GOOD(s->l->pa_stream_get_state(s->stream));
}

uint32_t upcast_pulse_breaks(upcast_pulse_stream *s) { return s->breaks; }

bool upcast_pulse_take_change(upcast_pulse_stream *s, int64_t *position) {
    const bool has_changed = s->has_changed;
    s->has_changed = false;
    *position = s->changed_at;
    return has_changed;
}

bool upcast_pulse_peek(upcast_pulse_stream *s, const void **bytes, size_t *count) {
    if (!is_ready(s) || s->l->pa_stream_peek(s->stream, bytes, count) < 0) return false;
    s->peeked = *count;
    return *count > 0;
}

void upcast_pulse_drop(upcast_pulse_stream *s) {
    if (s->peeked == 0) return;
    s->l->pa_stream_drop(s->stream);
    s->position += (int64_t)s->peeked;
    s->peeked = 0;
}

static void take_answer(pa_stream *stream, int success, void *data) {
    upcast_pulse_stream *s = data;
    end_asking(s->l, &s->asking);
    const pa_timing_info *info = success ? s->l->pa_stream_get_timing_info(stream) : NULL;
    if (!info || info->write_index_corrupt || info->read_index_corrupt) return;
    s->timing = (upcast_pulse_timing){
        .at_nsec = upcast_now_nsec() - (int64_t)info->transport_usec * 1000,
        .write_index = info->write_index,
        .read_index = info->read_index,
        .arrived = (int64_t)s->l->pa_stream_readable_size(stream),
        .source_usec = info->source_usec,
        .sink_usec = info->sink_usec,
        .position = s->position,
    };
    s->has_timing = true;
}

static void take_delay(pa_context *c, const pa_source_output_info *info, int is_end, void *data) {
    (void)c;
    upcast_pulse_stream *s = data;
    if (is_end)
        end_asking(s->l, &s->asking_delay);
    else
        s->timing.left_usec = info->source_usec + info->buffer_usec;
}

void upcast_pulse_ask_timing(upcast_pulse_stream *s) {
    if (s->asking || s->asking_delay || !is_ready(s)) return;
    // The server answers in order, and both at once unless it is interrupted.
    s->has_timing = false;
    s->asking = s->l->pa_stream_update_timing_info(s->stream, take_answer, s);
    s->asking_delay = s->l->pa_context_get_source_output_info(
        s->context, s->l->pa_stream_get_index(s->stream), take_delay, s);
}

bool upcast_pulse_take_timing(upcast_pulse_stream *s, upcast_pulse_timing *timing) {
    if (!s->has_timing || s->asking_delay) return false;
    s->has_timing = false;
    *timing = s->timing;
    return true;
}
