#include "connection.h"

#include <stdlib.h>
#include <string.h>

static upcast_x_event translated(upcast_x *x, const xcb_generic_event_t *event) {
    upcast_x_event result = {.kind = UPCAST_X_OTHER, .sequence = event->full_sequence};
    const uint8_t type = event->response_type & 0x7f;
    if (type == XCB_CONFIGURE_NOTIFY) {
        const xcb_configure_notify_event_t *change = (const void *)event;
        if (change->window != x->screen->root) return result;
        result.kind = UPCAST_X_SCREEN_CHANGED;
        result.width = change->width;
        result.height = change->height;
    } else if (x->has_damage && type == x->damage_event + XCB_DAMAGE_NOTIFY) {
        result.kind = UPCAST_X_DAMAGED;
    } else if (x->has_fixes && type == x->fixes_event + XCB_XFIXES_CURSOR_NOTIFY) {
        result.kind = UPCAST_X_CURSOR_CHANGED;
    } else if (
        x->has_monitors
        && (type == x->randr_event + XCB_RANDR_SCREEN_CHANGE_NOTIFY || type == x->randr_event + XCB_RANDR_NOTIFY)) {
        result.kind = UPCAST_X_SCREEN_CHANGED;
    }
    return result;
}

/// Takes an event, or keeps one for later.
static bool take(upcast_x *x, xcb_generic_event_t *event, uint32_t before, upcast_x_event *result) {
    if (!event) return false;
    // Sequence numbers wrap around.
    if ((int32_t)(event->full_sequence - before) >= 0) {
        x->kept = event;
        return false;
    }
    *result = translated(x, event);
    free(event);
    return true;
}

bool upcast_x_next_event(upcast_x *x, uint32_t before, upcast_x_event *result) {
    xcb_generic_event_t *event = x->kept;
    x->kept = NULL;
    return take(x, event ? event : xcb_poll_for_queued_event(x->c), before, result);
}

bool upcast_x_read_event(upcast_x *x, upcast_x_event *result) {
    xcb_generic_event_t *event = x->kept ? x->kept : xcb_poll_for_event(x->c);
    x->kept = NULL;
    if (!event) return false;
    *result = translated(x, event);
    free(event);
    return true;
}
