#include "connection.h"

#include <string.h>

/// ext-image-copy-capture-v1: a session, which describes its pictures, and one object for each picture.

/// The preference of formats (wl_shm.format): those that the daemon reads without a conversion.
static int rank(uint32_t format) {
    static const uint32_t known[] = {1 /* XRGB8888 */, 0 /* ARGB8888 */, 0x34324258 /* XB24 */, 0x34324241 /* AB24 */};
    for (int i = 0; i < 4; i++)
        if (known[i] == format) return i;
    return 4;
}

static void describe(upcast_wl *wl) {
    upcast_wl_picture *picture = &wl->picture;
    picture->format = wl->constraints.format;
    picture->width = wl->constraints.width;
    picture->height = wl->constraints.height;
    picture->stride = wl->constraints.width * 4;
    picture->stage = wl->constraints.has_format && picture->width && picture->height ? UPCAST_WL_DESCRIBED
                                                                                     : UPCAST_WL_FAILED;
}

static int session_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)message;
    upcast_wl *wl = (upcast_wl *)data;
    switch (opcode) {
    case SESSION_BUFFER_SIZE:
        wl->next.width = a[0].u;
        wl->next.height = a[1].u;
        break;
    case SESSION_SHM_FORMAT:
        if (!wl->next.has_format || rank(a[0].u) < rank(wl->next.format)) wl->next.format = a[0].u;
        wl->next.has_format = true;
        break;
    case SESSION_DONE:
        wl->constraints = wl->next;
        memset(&wl->next, 0, sizeof wl->next);
        wl->is_described = true;
        if (wl->picture.stage == UPCAST_WL_ASKED) describe(wl);
        break;
    case SESSION_STOPPED:
        wl->is_ended = true;
        if (wl->picture.stage != UPCAST_WL_READY) wl->picture.stage = UPCAST_WL_FAILED;
        break;
    default: break;
    }
    return 0;
}

static int frame_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)message;
    upcast_wl_picture *picture = &((upcast_wl *)data)->picture;
    switch (opcode) {
    case FRAME_TRANSFORM: picture->transform = a[0].u < 8 ? (int32_t)a[0].u : -1; break;
    case FRAME_DAMAGE: upcast_wl_note_damage(picture, a[0].i, a[1].i, a[2].i, a[3].i); break;
    case FRAME_TIME: upcast_wl_note_time(picture, a[0].u, a[1].u, a[2].u); break;
    case FRAME_READY: picture->stage = UPCAST_WL_READY; break;
    case FRAME_FAILED: picture->stage = UPCAST_WL_FAILED; break;
    default: break;
    }
    return 0;
}

void upcast_wl_ask_image_copy(upcast_wl *wl, struct wl_proxy *output, bool has_pointer) {
    if (wl->is_ended) upcast_wl_end_session(wl);
    if (wl->session) {
        if (wl->is_described) describe(wl);
        else wl->picture.stage = UPCAST_WL_ASKED;
        return;
    }
    union wl_argument source[] = {{.o = NULL}, {.o = (struct wl_object *)output}};
    wl->source = upcast_wl_request(wl, wl->source_manager, SOURCE_MANAGER_CREATE, &upcast_wl_source, 1, source);
    // Option 1: pictures contain the pointer.
    union wl_argument session[] = {{.o = NULL}, {.o = (struct wl_object *)wl->source}, {.u = has_pointer ? 1 : 0}};
    wl->session = wl->source ? upcast_wl_request(
                                   wl, wl->capture_manager, CAPTURE_CREATE_SESSION, &upcast_wl_capture_session, 1,
                                   session)
                             : NULL;
    upcast_wl_listen(wl, wl->session, session_event, wl);
    wl->picture.stage = wl->session ? UPCAST_WL_ASKED : UPCAST_WL_FAILED;
}

void upcast_wl_copy_image(upcast_wl *wl, upcast_wl_buffer *buffer) {
    union wl_argument frame[] = {{.o = NULL}};
    wl->frame = upcast_wl_request(wl, wl->session, SESSION_CREATE_FRAME, &upcast_wl_capture_frame, 1, frame);
    upcast_wl_listen(wl, wl->frame, frame_event, wl);
    if (!wl->frame) {
        wl->picture.stage = UPCAST_WL_FAILED;
        return;
    }
    union wl_argument attach[] = {{.o = (struct wl_object *)buffer}};
    upcast_wl_request(wl, wl->frame, FRAME_ATTACH, NULL, 1, attach);
    // The buffer's content is some pictures old, so the whole picture must be written.
    union wl_argument whole[] = {
        {.i = 0}, {.i = 0}, {.i = (int32_t)wl->picture.width}, {.i = (int32_t)wl->picture.height}};
    upcast_wl_request(wl, wl->frame, FRAME_DAMAGE_BUFFER, NULL, 1, whole);
    upcast_wl_request(wl, wl->frame, FRAME_CAPTURE, NULL, 1, NULL);
}

void upcast_wl_end_session(upcast_wl *wl) {
    upcast_wl_end_picture(wl);
    upcast_wl_destroy(wl, &wl->session, SESSION_DESTROY);
    upcast_wl_destroy(wl, &wl->source, SOURCE_DESTROY);
    memset(&wl->next, 0, sizeof wl->next);
    memset(&wl->constraints, 0, sizeof wl->constraints);
    wl->is_described = wl->is_ended = false;
}
