// All windows in a child of the root window.
#include "connection.h"

#include <stdlib.h>

static bool is_set(upcast_x *x, xcb_get_property_cookie_t cookie) {
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, cookie, NULL);
    const bool result = reply && reply->type != XCB_NONE;
    free(reply);
    return result;
}

/// A window under examination, and the requests about it.
struct visit {
    xcb_window_t window;
    /// The index of the top window that contains it, and its depth.
    uint32_t top, level;
    xcb_get_property_cookie_t state, class_name, name, net_name, secure;
    xcb_query_tree_cookie_t children;
};

/// Selects the events of a window, and sends the requests about it.
static struct visit ask(upcast_x *x, xcb_window_t window, uint32_t top, uint32_t level) {
    const uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY;
    xcb_change_window_attributes(x->c, window, XCB_CW_EVENT_MASK, &events);
    struct visit visit = {.window = window, .top = top, .level = level};
    visit.state = upcast_x_ask(x, window, x->atoms.wm_state, 0);
    visit.class_name = upcast_x_ask(x, window, XCB_ATOM_WM_CLASS, 0);
    visit.name = upcast_x_ask(x, window, XCB_ATOM_WM_NAME, 0);
    visit.net_name = upcast_x_ask(x, window, x->atoms.net_name, 0);
    visit.secure = upcast_x_ask(x, window, x->atoms.secure, 1);
    visit.children = xcb_query_tree(x->c, window);
    return visit;
}

/// Returns the children, to be freed; NULL if the window is gone, which the window around it reports by an event.
static xcb_query_tree_reply_t *take(upcast_x *x, const struct visit *visit, upcast_x_facts *facts) {
    const bool has_state = is_set(x, visit->state), has_class = is_set(x, visit->class_name);
    const bool has_name = is_set(x, visit->name), has_net_name = is_set(x, visit->net_name);
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, visit->secure, NULL);
    // A value that is no number hides the window, too.
    const uint32_t value = reply && reply->value_len ? (reply->format == 32 ? upcast_x_word(reply) : 1) : 0;
    free(reply);
    if (value > facts->secure) facts->secure = value;
    if (has_state && !facts->managed) facts->managed = visit->window;
    if (has_class || has_name || has_net_name || value) facts->named[facts->named_count++] = visit->window;
    return xcb_query_tree_reply(x->c, visit->children, NULL);
}

/// Visits under way, the oldest first.
struct queue {
    struct visit *visits;
    size_t count, capacity;
};

/// False if there is no memory, or if a limit of the search is reached.
static bool push(upcast_x *x, struct queue *queue, xcb_window_t window, uint32_t top, uint32_t level,
    upcast_x_facts *facts) {
    if (facts->inside_count == UPCAST_X_MAX_INSIDE || level > UPCAST_X_MAX_LEVELS) return false;
    if (queue->count == queue->capacity) {
        const size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
        struct visit *larger = realloc(queue->visits, capacity * sizeof *larger);
        if (!larger) return false;
        queue->visits = larger;
        queue->capacity = capacity;
    }
    queue->visits[queue->count++] = ask(x, window, top, level);
    facts->inside[facts->inside_count++] = window;
    return true;
}

void upcast_x_look_inside(upcast_x *x, const xcb_window_t *windows, uint32_t count, upcast_x_facts *facts) {
    struct queue queue = {0};
    for (uint32_t i = 0; i < count; i++)
        if (!push(x, &queue, windows[i], i, 1, &facts[i])) facts[i].has_unseen = true;
    // Level by level: the requests for all windows of a level are sent before its first answer is taken.
    for (size_t done = 0; done < queue.count; done++) {
        const struct visit visit = queue.visits[done];
        upcast_x_facts *of_top = &facts[visit.top];
        xcb_query_tree_reply_t *tree = take(x, &visit, of_top);
        if (!tree) continue;
        const xcb_window_t *children = xcb_query_tree_children(tree);
        for (int i = 0; i < xcb_query_tree_children_length(tree); i++)
            if (!push(x, &queue, children[i], visit.top, visit.level + 1, of_top)) of_top->has_unseen = true;
        free(tree);
    }
    free(queue.visits);
}
