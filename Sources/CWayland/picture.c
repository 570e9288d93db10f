#include "connection.h"

#include <string.h>

upcast_wl_memory *upcast_wl_attach(upcast_wl *wl, int descriptor, int32_t byte_count) {
    // libwayland sends a copy of the descriptor.
    union wl_argument arguments[] = {{.o = NULL}, {.h = descriptor}, {.i = byte_count}};
    struct wl_proxy *pool =
        upcast_wl_request(wl, wl->shm, SHM_CREATE_POOL, &upcast_wl_shm_pool, 1, arguments);
    if (pool && wl->library->wl_display_roundtrip(wl->display) < 0) upcast_wl_destroy(wl, &pool, -1);
    return (upcast_wl_memory *)pool;
}

void upcast_wl_detach(upcast_wl *wl, upcast_wl_memory *memory) {
    struct wl_proxy *pool = (struct wl_proxy *)memory;
    upcast_wl_destroy(wl, &pool, POOL_DESTROY);
}

upcast_wl_buffer *upcast_wl_make_buffer(
    upcast_wl *wl, upcast_wl_memory *memory, int32_t offset, int32_t width, int32_t height, int32_t stride,
    uint32_t format) {
    union wl_argument arguments[] = {{.o = NULL},   {.i = offset}, {.i = width},
                                     {.i = height}, {.i = stride}, {.u = format}};
    return (upcast_wl_buffer *)upcast_wl_request(
        wl, (struct wl_proxy *)memory, POOL_CREATE_BUFFER, &upcast_wl_buffer_interface, 1, arguments);
}

void upcast_wl_drop_buffer(upcast_wl *wl, upcast_wl_buffer *buffer) {
    struct wl_proxy *proxy = (struct wl_proxy *)buffer;
    upcast_wl_destroy(wl, &proxy, BUFFER_DESTROY);
}

void upcast_wl_note_damage(upcast_wl_picture *picture, int32_t x, int32_t y, int32_t width, int32_t height) {
    const uint32_t capacity = sizeof picture->damage / sizeof *picture->damage;
    const upcast_wl_rectangle added = {x, y, width, height};
    if (picture->damage_count < capacity) {
        picture->damage[picture->damage_count++] = added;
        return;
    }
    upcast_wl_rectangle *last = &picture->damage[capacity - 1];
    // Edges have 64 bits, because the compositor's numbers are not checked. If the box does not fit into 32 bits,
    // everything counts as damage.
    int64_t left = last->x < x ? last->x : x, top = last->y < y ? last->y : y;
    int64_t right = (int64_t)last->x + last->width, bottom = (int64_t)last->y + last->height;
    if (right < (int64_t)x + width) right = (int64_t)x + width;
    if (bottom < (int64_t)y + height) bottom = (int64_t)y + height;
    if (right - left > INT32_MAX || bottom - top > INT32_MAX) {
        *last = (upcast_wl_rectangle){0, 0, INT32_MAX, INT32_MAX};
        return;
    }
    *last = (upcast_wl_rectangle){(int32_t)left, (int32_t)top, (int32_t)(right - left), (int32_t)(bottom - top)};
}

void upcast_wl_note_time(upcast_wl_picture *picture, uint32_t high, uint32_t low, uint32_t nanoseconds) {
    // Times beyond 292 years are not valid.
    bool is_time = high == 0 && nanoseconds < 1000000000;
    picture->time = is_time ? (int64_t)low * 1000000000 + nanoseconds : -1;
}

static void begin(upcast_wl *wl, enum upcast_wl_stage stage) {
    memset(&wl->picture, 0, sizeof wl->picture);
    wl->picture.transform = -1;
    wl->picture.time = -1;
    wl->picture.stage = stage;
}

void upcast_wl_ask(
    upcast_wl *wl, enum upcast_wl_protocol protocol, uint32_t output, bool has_pointer,
    const upcast_wl_rectangle *part) {
    upcast_wl_end_picture(wl);
    struct wl_proxy *proxy = upcast_wl_output_proxy(wl, output);
    begin(wl, proxy && upcast_wl_has(wl, protocol) ? UPCAST_WL_ASKED : UPCAST_WL_FAILED);
    if (wl->picture.stage == UPCAST_WL_FAILED) return;
    if (protocol == UPCAST_WL_SCREENCOPY)
        upcast_wl_ask_screencopy(wl, proxy, has_pointer, part);
    else
        upcast_wl_ask_image_copy(wl, proxy, has_pointer);
}

void upcast_wl_copy(upcast_wl *wl, upcast_wl_buffer *buffer, bool waits) {
    if (wl->picture.stage != UPCAST_WL_DESCRIBED) return;
    wl->picture.stage = UPCAST_WL_COPYING;
    if (wl->session) {
        upcast_wl_copy_image(wl, buffer);
        return;
    }
    union wl_argument arguments[] = {{.o = (struct wl_object *)buffer}};
    upcast_wl_request(
        wl, wl->frame, waits ? SCREENCOPY_COPY_WITH_DAMAGE : SCREENCOPY_COPY, NULL, 3, arguments);
}

void upcast_wl_end_picture(upcast_wl *wl) {
    upcast_wl_destroy(wl, &wl->frame, wl->session ? (int)FRAME_DESTROY : (int)SCREENCOPY_DESTROY);
    begin(wl, UPCAST_WL_IDLE);
}

upcast_wl_picture upcast_wl_current(upcast_wl *wl) { return wl->picture; }
