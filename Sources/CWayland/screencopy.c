#include "connection.h"

/// wlr-screencopy-unstable-v1: one object for each picture.
static int frame_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)message;
    upcast_wl_picture *picture = &((upcast_wl *)data)->picture;
    switch (opcode) {
    case SCREENCOPY_BUFFER:
        picture->format = a[0].u;
        picture->width = a[1].u;
        picture->height = a[2].u;
        picture->stride = a[3].u;
        break;
    case SCREENCOPY_BUFFER_DONE:
        // A compositor that gives no pictures in shared memory reports no size.
        picture->stage = picture->width && picture->height ? UPCAST_WL_DESCRIBED : UPCAST_WL_FAILED;
        break;
    case SCREENCOPY_FLAGS: picture->is_upside_down = a[0].u & 1; break;
    case SCREENCOPY_DAMAGE:
        if (a[0].u <= INT32_MAX && a[1].u <= INT32_MAX && a[2].u <= INT32_MAX && a[3].u <= INT32_MAX)
            upcast_wl_note_damage(picture, (int32_t)a[0].u, (int32_t)a[1].u, (int32_t)a[2].u, (int32_t)a[3].u);
        else
            upcast_wl_note_damage(picture, 0, 0, INT32_MAX, INT32_MAX);
        break;
    case SCREENCOPY_READY:
        upcast_wl_note_time(picture, a[0].u, a[1].u, a[2].u);
        picture->stage = UPCAST_WL_READY;
        break;
    case SCREENCOPY_FAILED: picture->stage = UPCAST_WL_FAILED; break;
    default: break;
    }
    return 0;
}

void upcast_wl_ask_screencopy(
    upcast_wl *wl, struct wl_proxy *output, bool has_pointer, const upcast_wl_rectangle *part) {
    union wl_argument arguments[7] = {{.o = NULL}, {.i = has_pointer}, {.o = (struct wl_object *)output}};
    if (part) {
        arguments[3].i = part->x;
        arguments[4].i = part->y;
        arguments[5].i = part->width;
        arguments[6].i = part->height;
    }
    wl->frame = upcast_wl_request(
        wl, wl->screencopy, part ? SCREENCOPY_REGION : SCREENCOPY_OUTPUT, &upcast_wl_screencopy_frame, 3, arguments);
    upcast_wl_listen(wl, wl->frame, frame_event, wl);
    if (!wl->frame) wl->picture.stage = UPCAST_WL_FAILED;
}
