#include "connection.h"

#include <stdlib.h>
#include <string.h>

static void place(upcast_x_event *result, int x, int y, int width, int height, int border) {
    result->x = x;
    result->y = y;
    result->width = width + 2 * border;
    result->height = height + 2 * border;
}

/// Events of the root window, its children, and examined windows. An event inside a child counts as a change of the
/// window that reports it.
static upcast_x_event of_windows(upcast_x *x, const xcb_generic_event_t *event, upcast_x_event result) {
    const xcb_window_t root = x->screen->root;
    const uint8_t type = event->response_type & 0x7f;
    // Clients may send copies of events, true ones (ICCCM 4.1.4) and others. What has happened, the server reports.
    const bool is_sent = event->response_type & 0x80;
    if (is_sent && type >= XCB_CREATE_NOTIFY && type <= XCB_CIRCULATE_REQUEST) return result;
    switch (type) {
    case XCB_CONFIGURE_NOTIFY: {
        const xcb_configure_notify_event_t *e = (const void *)event;
        if (e->event != root) {
            result.kind = UPCAST_X_WINDOW_MOVED_INSIDE;
            result.window = e->event;
            return result;
        }
        result.kind = e->window == root ? UPCAST_X_SCREEN_CHANGED : UPCAST_X_WINDOW_MOVED;
        result.window = e->window;
        result.above = e->above_sibling;
        place(&result, e->x, e->y, e->width, e->height, e->border_width);
        upcast_x_source_configured(x, e->window, result.width, result.height);
        return result;
    }
    case XCB_CIRCULATE_NOTIFY: {
        const xcb_circulate_notify_event_t *e = (const void *)event;
        if (e->event != root) return result;
        result.kind = UPCAST_X_WINDOW_RESTACKED;
        result.window = e->window;
        result.is_highest = e->place == XCB_PLACE_ON_TOP;
        return result;
    }
    case XCB_CREATE_NOTIFY: {
        const xcb_create_notify_event_t *e = (const void *)event;
        result.kind = e->parent == root ? UPCAST_X_WINDOW_CAME : UPCAST_X_WINDOW_CAME_INSIDE;
        result.window = e->parent == root ? e->window : e->parent;
        result.is_stranger = upcast_x_maker(x, e->window) != upcast_x_maker(x, e->parent);
        place(&result, e->x, e->y, e->width, e->height, e->border_width);
        return result;
    }
    case XCB_REPARENT_NOTIFY: {
        const xcb_reparent_notify_event_t *e = (const void *)event;
        if (e->event != root) {
            result.kind =
                e->parent == e->event ? UPCAST_X_WINDOW_CAME_INSIDE : UPCAST_X_WINDOW_REARRANGED;
            result.window = e->event;
            result.is_stranger = upcast_x_maker(x, e->window) != upcast_x_maker(x, e->event);
            return result;
        }
        result.kind = e->parent == root ? UPCAST_X_WINDOW_CAME : UPCAST_X_WINDOW_WENT;
        result.window = e->window;
        // The event has no size: a configure event, or the window's facts, tell it.
        place(&result, e->x, e->y, 0, 0, 0);
        return result;
    }
    case XCB_DESTROY_NOTIFY: {
        const xcb_destroy_notify_event_t *e = (const void *)event;
        upcast_x_forget_source(x, e->window);
        // The next one may have the same ID, and the windows of the next manager, too.
        if (e->window == x->focus.overlay && (int32_t)(event->full_sequence - x->focus.since) >= 0)
            x->focus.window = UINT32_MAX, x->focus.overlay = XCB_NONE;
        result.kind = e->event == root ? UPCAST_X_WINDOW_WENT : UPCAST_X_WINDOW_REARRANGED;
        result.window = e->event == root ? e->window : e->event;
        result.destroyed = e->window;
        return result;
    }
    case XCB_MAP_NOTIFY: {
        const xcb_map_notify_event_t *e = (const void *)event;
        if (e->event == root) upcast_x_source_mapped(x, e->window);
        result.kind = e->event == root ? UPCAST_X_WINDOW_MAPPED : UPCAST_X_WINDOW_CHANGED;
        result.is_override_redirect = e->override_redirect;
        result.window = e->event == root ? e->window : e->event;
        return result;
    }
    case XCB_UNMAP_NOTIFY: {
        const xcb_unmap_notify_event_t *e = (const void *)event;
        result.kind = e->event == root ? UPCAST_X_WINDOW_UNMAPPED : UPCAST_X_WINDOW_UNMAPPED_INSIDE;
        result.window = e->event == root ? e->window : e->event;
        return result;
    }
    case XCB_FOCUS_IN:
    case XCB_FOCUS_OUT: {
        const xcb_focus_in_event_t *e = (const void *)event;
        // During the grab of a key, windows below the pointer get events, too.
        if (e->event == x->focus.overlay && e->detail != XCB_NOTIFY_DETAIL_POINTER)
            result.kind = UPCAST_X_OVERLAY_FOCUS_CHANGED;
        return result;
    }
    case XCB_PROPERTY_NOTIFY: {
        const xcb_property_notify_event_t *e = (const void *)event;
        const xcb_atom_t atom = e->atom;
        if (e->window == root) {
            if (atom == x->atoms.active) result.kind = UPCAST_X_ACTIVE_CHANGED;
            if (atom == x->atoms.current_desktop || atom == x->atoms.showing_desktop)
                result.kind = UPCAST_X_DESKTOP_CHANGED;
            return result;
        }
        if (atom == XCB_ATOM_WM_CLASS || atom == XCB_ATOM_WM_TRANSIENT_FOR || atom == XCB_ATOM_WM_HINTS
            || atom == x->atoms.secure || atom == x->atoms.type) {
            result.kind = UPCAST_X_WINDOW_CHANGED;
            result.window = e->window;
        } else if (atom == XCB_ATOM_WM_NAME || atom == x->atoms.net_name) {
            result.kind = UPCAST_X_WINDOW_RENAMED;
            result.window = e->window;
        } else if (atom == x->atoms.icon_geometry) {
            result.kind = UPCAST_X_WINDOW_ICON_MOVED;
            result.window = e->window;
        } else if (atom == x->atoms.wm_state) {
            result.kind = UPCAST_X_WINDOW_STATE_CHANGED;
            result.window = e->window;
        }
        return result;
    }
    default: return result;
    }
}

static upcast_x_event translated(upcast_x *x, const xcb_generic_event_t *event) {
    upcast_x_event result = {.kind = UPCAST_X_OTHER, .sequence = event->full_sequence};
    const uint8_t type = event->response_type & 0x7f;
    const upcast_x_event none = result;
    result = of_windows(x, event, result);
    if (result.window && (result.window == x->cover || result.window == x->veil)) {
        // Of these two, only the stacking matters: other windows may be put above them.
        result.is_highest = result.kind == UPCAST_X_WINDOW_CAME;
        if (result.kind != UPCAST_X_WINDOW_CAME && result.kind != UPCAST_X_WINDOW_MOVED) return none;
        result.kind = UPCAST_X_WINDOW_RESTACKED;
        return result;
    }
    if (result.kind != UPCAST_X_OTHER) return result;
    if (x->has_damage && type == x->damage_event + XCB_DAMAGE_NOTIFY) {
        const xcb_damage_notify_event_t *damage = (const void *)event;
        // With chosen windows, the rest of the screen does not matter.
        if (x->composition.formats ? upcast_x_is_source_damage(x, damage->damage) : damage->damage == x->damage)
            result.kind = UPCAST_X_DAMAGED;
    } else if (upcast_x_is_motion(x, event)) {
        result.kind = UPCAST_X_POINTER_MOVED;
    } else if (x->has_fixes && type == x->fixes_event + XCB_XFIXES_SELECTION_NOTIFY) {
        result.kind = UPCAST_X_COMPOSITOR_CHANGED;
        result.window = ((const xcb_xfixes_selection_notify_event_t *)event)->owner;
    } else if (x->has_fixes && type == x->fixes_event + XCB_XFIXES_CURSOR_NOTIFY) {
        result.kind = UPCAST_X_CURSOR_CHANGED;
    } else if (
        x->has_monitors
        && (type == x->randr_event + XCB_RANDR_SCREEN_CHANGE_NOTIFY || type == x->randr_event + XCB_RANDR_NOTIFY)) {
        result.kind = UPCAST_X_SCREEN_CHANGED;
    }
    return result;
}

/// Takes an event, or keeps it for later if it is not before `before`.
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
