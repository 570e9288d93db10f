#include "connection.h"

#include <stdlib.h>
#include <string.h>
#include <xcb/xinput.h>

bool upcast_x_begin_motion(upcast_x *x) {
    if (!upcast_x_has(x, &xcb_input_id)) return false;
    xcb_input_xi_query_version_reply_t *v =
        xcb_input_xi_query_version_reply(x->c, xcb_input_xi_query_version(x->c, 2, 2), NULL);
    // Since 2.1, raw events come also while another client has grabbed the pointer, as menus do.
    const bool is_new = v && (v->major_version > 2 || (v->major_version == 2 && v->minor_version >= 1));
    x->input_minor = is_new ? (v->major_version > 2 ? 2 : v->minor_version) : 0;
    free(v);
    if (is_new) x->input_opcode = xcb_get_extension_data(x->c, &xcb_input_id)->major_opcode;
    return is_new;
}

void upcast_x_watch_motion(upcast_x *x, bool is_on) {
    if (!x->input_opcode) return;
    struct {
        xcb_input_event_mask_t head;
        uint32_t events;
    } mask = {.head = {.deviceid = XCB_INPUT_DEVICE_ALL_MASTER, .mask_len = 1}};
    if (is_on) {
        mask.events = XCB_INPUT_XI_EVENT_MASK_RAW_MOTION;
        // Since XInput 2.2: a finger moves the pointer, too.
        if (x->input_minor >= 2)
            mask.events |= XCB_INPUT_XI_EVENT_MASK_RAW_TOUCH_BEGIN | XCB_INPUT_XI_EVENT_MASK_RAW_TOUCH_UPDATE
                | XCB_INPUT_XI_EVENT_MASK_RAW_TOUCH_END;
    }
    xcb_input_xi_select_events(x->c, x->screen->root, 1, &mask.head);
    xcb_flush(x->c);
}

bool upcast_x_is_motion(upcast_x *x, const xcb_generic_event_t *event) {
    if (!x->input_opcode || (event->response_type & 0x7f) != XCB_GE_GENERIC) return false;
    const xcb_ge_generic_event_t *generic = (const void *)event;
    if (generic->extension != x->input_opcode) return false;
    switch (generic->event_type) {
    case XCB_INPUT_RAW_MOTION:
    case XCB_INPUT_RAW_TOUCH_BEGIN:
    case XCB_INPUT_RAW_TOUCH_UPDATE:
    case XCB_INPUT_RAW_TOUCH_END: return true;
    default: return false;
    }
}

int upcast_x_cursor(
    upcast_x *x, uint32_t *pixels, size_t capacity, uint16_t *width, uint16_t *height, uint16_t *hot_x,
    uint16_t *hot_y, bool *is_named) {
    if (!x->has_fixes) return 0;
    xcb_generic_error_t *error = NULL;
    xcb_xfixes_get_cursor_image_and_name_reply_t *cursor = xcb_xfixes_get_cursor_image_and_name_reply(
        x->c, xcb_xfixes_get_cursor_image_and_name(x->c), &error);
    if (!cursor) {
        // BadCursor means that there is no shape. All other errors are about a shape that exists.
        const bool has_none = error && error->error_code == XCB_CURSOR;
        free(error);
        return upcast_x_is_lost(x) ? UPCAST_X_CURSOR_LOST : has_none ? 0 : UPCAST_X_CURSOR_UNKNOWN;
    }
    size_t count = (size_t)cursor->width * cursor->height;
    size_t sent = (size_t)xcb_xfixes_get_cursor_image_and_name_cursor_image_length(cursor);
    int result = UPCAST_X_CURSOR_UNKNOWN;
    if (count <= capacity && count <= sent) {
        memcpy(pixels, xcb_xfixes_get_cursor_image_and_name_cursor_image(cursor), count * sizeof *pixels);
        *width = cursor->width;
        *height = cursor->height;
        *hot_x = cursor->xhot;
        *hot_y = cursor->yhot;
        *is_named = cursor->cursor_atom != XCB_NONE;
        result = (int)count;
    }
    free(cursor);
    return result;
}

int upcast_x_pointer(upcast_x *x, bool *is_here, int16_t *pointer_x, int16_t *pointer_y) {
    xcb_generic_error_t *error = NULL;
    xcb_query_pointer_reply_t *pointer =
        xcb_query_pointer_reply(x->c, xcb_query_pointer(x->c, x->screen->root), &error);
    if (!pointer) return upcast_x_failure(x, error);
    *is_here = pointer->same_screen;
    *pointer_x = pointer->root_x;
    *pointer_y = pointer->root_y;
    free(pointer);
    return 0;
}
