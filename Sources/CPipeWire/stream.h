#ifndef UPCAST_PIPEWIRE_STREAM_H
#define UPCAST_PIPEWIRE_STREAM_H

#include "CPipeWire.h"
#include "library.h"

#include <pthread.h>
#include <spa/param/video/format-utils.h>

/// The picture in hand, one that is examined, and one to spare.
enum { UPCAST_PIPEWIRE_HELD = 3 };

/// A buffer that has come and was not taken yet.
typedef struct {
    struct pw_buffer *buffer;
    bool has_picture, has_shape;
    /// Buffers before it were given back, so that its damage is incomplete.
    bool follows_gap;
    /// Buffers before it were lost on the way.
    bool follows_loss;
} upcast_pipewire_arrival;

struct upcast_pipewire {
    const upcast_pipewire_library *l;
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_registry *registry;
    struct pw_stream *stream;
    struct spa_hook core_hook, registry_hook, stream_hook;
    uint32_t node;
    bool has_pointer;
    upcast_pipewire_state state;
    struct spa_video_info_raw format;
    struct {
        struct pw_buffer *buffer;
        uint32_t number;
        const uint8_t *memory, *shape;
    } held[UPCAST_PIPEWIRE_HELD];
    uint32_t last_number;
    /// State that PipeWire's own thread changes, too: the waiting buffers, and the queue of those that go back.
    pthread_mutex_t lock;
    upcast_pipewire_arrival waiting[UPCAST_PIPEWIRE_BUFFERS];
    int waiting_count;
    upcast_pipewire_order order;
    /// Wakes the thread that polls the loop.
    struct spa_source *wake;
};

/// arrivals.c: the waiting buffers. Called on PipeWire's thread.
void upcast_pipewire_take_arrivals(void *data);
/// Called on the thread of the stream.
bool upcast_pipewire_next(upcast_pipewire *pw, upcast_pipewire_arrival *arrival);
void upcast_pipewire_return(upcast_pipewire *pw, struct pw_buffer *buffer);
void upcast_pipewire_expect(upcast_pipewire *pw, struct pw_buffer *buffer);
void upcast_pipewire_forget(upcast_pipewire *pw, struct pw_buffer *buffer);

/// parameters.c: the formats that are accepted. Pods lie in the builder's memory.
const struct spa_pod *upcast_pipewire_formats(struct spa_pod_builder *builder, uint32_t rate, uint32_t rate_divisor);
enum { UPCAST_PIPEWIRE_MAX_PARAMETERS = 8 };
/// The requirements for buffers, and the metadata to send with them.
uint32_t upcast_pipewire_buffers(
    struct spa_pod_builder *builder, bool has_pointer, const struct spa_pod *parameters[UPCAST_PIPEWIRE_MAX_PARAMETERS]);
enum upcast_pipewire_format upcast_pipewire_format_of(uint32_t format);

/// picture.c: the contents of a buffer, and the memory of its picture and of its pointer's shape.
void upcast_pipewire_read_buffer(
    const struct spa_buffer *buffer, const struct spa_video_info_raw *format, upcast_pipewire_picture *picture,
    const uint8_t **memory, const uint8_t **shape);

#endif
