#include "stream.h"

#include <string.h>

// libpipewire gives one buffer back to the sender for each one that comes, at that moment only. A late process has none
// to give back then, and so keeps one more forever. In the end, the sender has no buffer left and stops. So PipeWire's
// own thread makes room: it gives buffers back that the stream's thread has not taken yet.

/// The most buffers that may wait. The sender may have only four, one of which is in hand.
enum { MOST = 2 };

int upcast_pipewire_find_outdated(uint32_t pictures, uint32_t shapes, int count) {
    // A shape of the pointer is sent only once.
    for (int i = 0; i < count - 1; i++)
        if (!(shapes >> i & 1) && (!(pictures >> i & 1) || pictures >> (i + 1))) return i;
    return -1;
}

static int find_outdated(const upcast_pipewire *pw) {
    uint32_t pictures = 0, shapes = 0;
    for (int i = 0; i < pw->waiting_count; i++) {
        pictures |= (uint32_t)pw->waiting[i].has_picture << i;
        shapes |= (uint32_t)pw->waiting[i].has_shape << i;
    }
    return upcast_pipewire_find_outdated(pictures, shapes, pw->waiting_count);
}

static void remove_waiting(upcast_pipewire *pw, int i) {
    pw->waiting_count--;
    memmove(&pw->waiting[i], &pw->waiting[i + 1], (size_t)(pw->waiting_count - i) * sizeof pw->waiting[0]);
}

static void add(upcast_pipewire *pw, struct pw_buffer *buffer) {
    if (pw->waiting_count == UPCAST_PIPEWIRE_BUFFERS) {
        pw->l->pw_stream_queue_buffer(pw->stream, buffer);
        return;
    }
    upcast_pipewire_picture picture = {0};
    const uint8_t *memory, *shape;
    upcast_pipewire_read_buffer(buffer->buffer, &(struct spa_video_info_raw){0}, &picture, &memory, &shape);
    pw->waiting[pw->waiting_count++] = (upcast_pipewire_arrival){
        .buffer = buffer,
        .has_picture = picture.has_picture,
        .has_shape = picture.has_shape,
        .follows_loss = upcast_pipewire_order_take(&pw->order, (uintptr_t)buffer, picture.sequence)};
}

/// Gives a waiting buffer back.
static void drop(upcast_pipewire *pw, int i) {
    const upcast_pipewire_arrival dropped = pw->waiting[i];
    pw->l->pw_stream_queue_buffer(pw->stream, dropped.buffer);
    remove_waiting(pw, i);
    pw->waiting[i].follows_gap = true;
    pw->waiting[i].follows_loss |= dropped.follows_loss;
}

void upcast_pipewire_take_arrivals(void *data) {
    upcast_pipewire *pw = data;
    pthread_mutex_lock(&pw->lock);
    struct pw_buffer *buffer;
    while ((buffer = pw->l->pw_stream_dequeue_buffer(pw->stream))) add(pw, buffer);
    int outdated;
    while (pw->waiting_count > MOST && (outdated = find_outdated(pw)) >= 0) drop(pw, outdated);
    pthread_mutex_unlock(&pw->lock);
    pw_loop_signal_event(pw->loop, pw->wake);
}

bool upcast_pipewire_next(upcast_pipewire *pw, upcast_pipewire_arrival *arrival) {
    pthread_mutex_lock(&pw->lock);
    const bool is_there = pw->waiting_count > 0;
    if (is_there) {
        *arrival = pw->waiting[0];
        remove_waiting(pw, 0);
    }
    pthread_mutex_unlock(&pw->lock);
    return is_there;
}

void upcast_pipewire_return(upcast_pipewire *pw, struct pw_buffer *buffer) {
    pthread_mutex_lock(&pw->lock);
    pw->l->pw_stream_queue_buffer(pw->stream, buffer);
    pthread_mutex_unlock(&pw->lock);
}

void upcast_pipewire_expect(upcast_pipewire *pw, struct pw_buffer *buffer) {
    pthread_mutex_lock(&pw->lock);
    upcast_pipewire_order_add(&pw->order, (uintptr_t)buffer);
    pthread_mutex_unlock(&pw->lock);
}

void upcast_pipewire_forget(upcast_pipewire *pw, struct pw_buffer *buffer) {
    pthread_mutex_lock(&pw->lock);
    upcast_pipewire_order_remove(&pw->order, (uintptr_t)buffer);
    for (int i = pw->waiting_count - 1; i >= 0; i--)
        if (pw->waiting[i].buffer == buffer) remove_waiting(pw, i);
    pthread_mutex_unlock(&pw->lock);
}
