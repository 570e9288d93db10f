#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(upcast_pipewire *pw, const char *text) {
    if (pw->state.stage == UPCAST_PIPEWIRE_ENDED) return;
    pw->state.stage = UPCAST_PIPEWIRE_ENDED;
    strncpy(pw->state.error, text ? text : "", sizeof pw->state.error - 1);
}

static void take_core_error(void *data, uint32_t id, int seq, int res, const char *message) {
    (void)seq;
    // The stream reports errors of other objects itself.
    if (id != PW_ID_CORE || res != -EPIPE) return;
    upcast_pipewire *pw = data;
    // If the node went before, somebody may have ended the stream.
    if (!pw->state.is_gone) pw->state.is_server_gone = true;
    pw->state.is_gone = true;
    end(pw, message);
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .error = take_core_error};

static void take_removal(void *data, uint32_t id) {
    upcast_pipewire *pw = data;
    if (id == pw->node) pw->state.is_gone = true;
}

static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS, .global_remove = take_removal};

static void take_state(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)old;
    upcast_pipewire *pw = data;
    switch (state) {
    case PW_STREAM_STATE_ERROR: end(pw, error); break;
    case PW_STREAM_STATE_UNCONNECTED: end(pw, "the stream was disconnected"); break;
    case PW_STREAM_STATE_CONNECTING: break;
    case PW_STREAM_STATE_PAUSED:
        if (pw->state.stage != UPCAST_PIPEWIRE_ENDED) pw->state.stage = UPCAST_PIPEWIRE_PAUSED;
        break;
    case PW_STREAM_STATE_STREAMING:
        if (pw->state.stage == UPCAST_PIPEWIRE_ENDED) break;
        pw->state.stage = UPCAST_PIPEWIRE_STREAMING;
        pw->state.starts++;
        break;
    }
}

static void take_format(void *data, uint32_t id, const struct spa_pod *parameter) {
    upcast_pipewire *pw = data;
    if (id != SPA_PARAM_Format) return;
    memset(&pw->format, 0, sizeof pw->format);
    if (!parameter || spa_format_video_raw_parse(parameter, &pw->format) < 0) return;
    // The sender of a resized window begins anew. With KWin 5.27, PipeWire 0.3.65 leaves the link paused.
    if (pw->state.stage == UPCAST_PIPEWIRE_STREAMING) pw->state.starts++;
    uint8_t memory[4096];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *parameters[UPCAST_PIPEWIRE_MAX_PARAMETERS];
    const uint32_t count = upcast_pipewire_buffers(&builder, pw->has_pointer, parameters);
    pw->l->pw_stream_update_params(pw->stream, parameters, count);
}

static void take_buffer_addition(void *data, struct pw_buffer *buffer) { upcast_pipewire_expect(data, buffer); }

static void take_buffer_removal(void *data, struct pw_buffer *buffer) {
    upcast_pipewire *pw = data;
    upcast_pipewire_forget(pw, buffer);
    for (int i = 0; i < UPCAST_PIPEWIRE_HELD; i++)
        if (pw->held[i].buffer == buffer) pw->held[i].buffer = NULL;
}

/// Does nothing: the buffers are taken after this turn of the loop.
static void wake(void *data, uint64_t count) { (void)data, (void)count; }

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = take_state,
    .param_changed = take_format,
    .add_buffer = take_buffer_addition,
    .remove_buffer = take_buffer_removal,
    .process = upcast_pipewire_take_arrivals,
};

static bool open_stream(upcast_pipewire *pw, uint32_t rate, uint32_t rate_divisor) {
    const upcast_pipewire_library *l = pw->l;
    pw->stream = l->pw_stream_new(
        pw->core, "broadcast",
        l->pw_properties_new(
            PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Screen", NULL));
    if (!pw->stream) return false;
    l->pw_stream_add_listener(pw->stream, &pw->stream_hook, &stream_events, pw);
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *formats = upcast_pipewire_formats(&builder, rate, rate_divisor);
    // A stream must never switch from the node that the user has chosen to another one.
    const enum pw_stream_flags flags =
        PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DONT_RECONNECT
        | PW_STREAM_FLAG_RT_PROCESS;
    return l->pw_stream_connect(pw->stream, PW_DIRECTION_INPUT, pw->node, flags, &formats, 1) >= 0;
}

upcast_pipewire *upcast_pipewire_open(
    int remote, uint32_t node, uint32_t rate, uint32_t rate_divisor, bool has_pointer, int *error) {
    *error = UPCAST_PIPEWIRE_NO_LIBRARY;
    const upcast_pipewire_library *l = upcast_pipewire_load();
    upcast_pipewire *pw = l ? calloc(1, sizeof *pw) : NULL;
    if (!pw) {
        if (l) *error = UPCAST_PIPEWIRE_NO_MEMORY;
        close(remote);
        return NULL;
    }
    pw->l = l;
    pw->node = node;
    pw->has_pointer = has_pointer;
    pthread_mutex_init(&pw->lock, NULL);
    *error = UPCAST_PIPEWIRE_NO_SERVER;
    pw->loop = l->pw_loop_new(NULL);
    if (pw->loop) {
        pw_loop_enter(pw->loop);
        pw->wake = pw_loop_add_event(pw->loop, wake, pw);
        // Locked memory would be resident as a whole: that of all buffers, of which only one is read.
        if (pw->wake) pw->context = l->pw_context_new(pw->loop, l->pw_properties_new("mem.allow-mlock", "false", NULL), 0);
    }
    if (!pw->context) {
        close(remote);
        if (pw->loop) pw_loop_leave(pw->loop);
        upcast_pipewire_close(pw);
        return NULL;
    }
    // This call closes the descriptor even if it fails.
    pw->core = l->pw_context_connect_fd(pw->context, remote, NULL, 0);
    if (pw->core) {
        pw_core_add_listener(pw->core, &pw->core_hook, &core_events, pw);
        pw->registry = pw_core_get_registry(pw->core, PW_VERSION_REGISTRY, 0);
        if (pw->registry) pw_registry_add_listener(pw->registry, &pw->registry_hook, &registry_events, pw);
    }
    if (!pw->core || !open_stream(pw, rate, rate_divisor)) {
        pw_loop_leave(pw->loop);
        upcast_pipewire_close(pw);
        return NULL;
    }
    pw_loop_leave(pw->loop);
    return pw;
}

void upcast_pipewire_close(upcast_pipewire *pw) {
    const upcast_pipewire_library *l = pw->l;
    if (pw->loop) pw_loop_enter(pw->loop);
    if (pw->stream) {
        spa_hook_remove(&pw->stream_hook);
        l->pw_stream_destroy(pw->stream);
    }
    if (pw->registry) {
        spa_hook_remove(&pw->registry_hook);
        l->pw_proxy_destroy((struct pw_proxy *)pw->registry);
    }
    if (pw->core) {
        spa_hook_remove(&pw->core_hook);
        l->pw_core_disconnect(pw->core);
    }
    if (pw->context) l->pw_context_destroy(pw->context);
    if (pw->loop) {
        if (pw->wake) pw_loop_destroy_source(pw->loop, pw->wake);
        pw_loop_leave(pw->loop);
        l->pw_loop_destroy(pw->loop);
    }
    pthread_mutex_destroy(&pw->lock);
    free(pw);
}

void upcast_pipewire_enter(upcast_pipewire *pw) { pw_loop_enter(pw->loop); }
void upcast_pipewire_leave(upcast_pipewire *pw) { pw_loop_leave(pw->loop); }

int upcast_pipewire_descriptor(upcast_pipewire *pw) { return pw_loop_get_fd(pw->loop); }

void upcast_pipewire_process(upcast_pipewire *pw) {
    // The number of events per call is bounded, because other threads may be waiting to give orders.
    for (int i = 0; i < 64; i++) {
        const int status = pw_loop_iterate(pw->loop, 0);
        if (status == -EINTR) continue;
        if (status < 0) end(pw, strerror(-status));
        if (status <= 0) return;
    }
}

const upcast_pipewire_state *upcast_pipewire_look(upcast_pipewire *pw) { return &pw->state; }

void upcast_pipewire_set_active(upcast_pipewire *pw, bool is_active) {
    pw->l->pw_stream_set_active(pw->stream, is_active);
}

bool upcast_pipewire_take(upcast_pipewire *pw, upcast_pipewire_picture *picture) {
    for (int i = 0; i < UPCAST_PIPEWIRE_HELD; i++) {
        if (pw->held[i].buffer) continue;
        upcast_pipewire_arrival arrival;
        if (!upcast_pipewire_next(pw, &arrival)) return false;
        pw->held[i].buffer = arrival.buffer;
        pw->held[i].number = ++pw->last_number;
        memset(picture, 0, sizeof *picture);
        upcast_pipewire_read_buffer(
            arrival.buffer->buffer, &pw->format, picture, &pw->held[i].memory, &pw->held[i].shape);
        if (arrival.follows_gap || arrival.follows_loss) picture->damage_count = 0;
        picture->follows_loss = arrival.follows_loss;
        picture->number = pw->last_number;
        return true;
    }
    return false;
}

static int find_held(upcast_pipewire *pw, uint32_t number) {
    for (int i = 0; i < UPCAST_PIPEWIRE_HELD; i++)
        if (pw->held[i].buffer && pw->held[i].number == number) return i;
    return -1;
}

const uint8_t *upcast_pipewire_memory(upcast_pipewire *pw, uint32_t number) {
    const int i = find_held(pw, number);
    return i < 0 ? NULL : pw->held[i].memory;
}

const uint8_t *upcast_pipewire_shape_memory(upcast_pipewire *pw, uint32_t number) {
    const int i = find_held(pw, number);
    return i < 0 ? NULL : pw->held[i].shape;
}

void upcast_pipewire_give_back(upcast_pipewire *pw, uint32_t number) {
    const int i = find_held(pw, number);
    if (i < 0) return;
    upcast_pipewire_return(pw, pw->held[i].buffer);
    pw->held[i].buffer = NULL;
}
