#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The name of a selection has the number of the screen.
static xcb_intern_atom_cookie_t intern_selection(upcast_x *x, const char *format) {
    char name[32];
    const int length = snprintf(name, sizeof name, format, x->screen_number);
    return xcb_intern_atom(x->c, 0, (uint16_t)length, name);
}

static xcb_atom_t interned(upcast_x *x, xcb_intern_atom_cookie_t cookie) {
    xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(x->c, cookie, NULL);
    const xcb_atom_t atom = reply ? reply->atom : XCB_NONE;
    free(reply);
    return atom;
}

static void intern(upcast_x *x) {
    static const char *const names[] = {
        "WM_STATE",
        "_UPCAST_SECURE",
        "_NET_WM_NAME",
        "UTF8_STRING",
        "_NET_WM_WINDOW_TYPE",
        "_NET_WM_WINDOW_TYPE_NOTIFICATION",
        "_NET_WM_WINDOW_TYPE_DIALOG",
        "_NET_WM_WINDOW_TYPE_UTILITY",
        "_NET_WM_WINDOW_TYPE_DROPDOWN_MENU",
        "_NET_WM_WINDOW_TYPE_POPUP_MENU",
        "_NET_WM_WINDOW_TYPE_MENU",
        "_NET_WM_WINDOW_TYPE_TOOLTIP",
        "_NET_WM_WINDOW_TYPE_COMBO",
        "_NET_WM_WINDOW_TYPE_DOCK",
        "_NET_WM_WINDOW_TYPE_DESKTOP",
        "_NET_SUPPORTING_WM_CHECK",
        "_NET_ACTIVE_WINDOW",
    };
    enum { COUNT = sizeof names / sizeof names[0] };
    _Static_assert(sizeof x->atoms == COUNT * sizeof(xcb_atom_t), "an atom for each name");
    xcb_intern_atom_cookie_t cookies[COUNT];
    for (int i = 0; i < COUNT; i++)
        cookies[i] = xcb_intern_atom(x->c, 0, (uint16_t)strlen(names[i]), names[i]);
    const xcb_intern_atom_cookie_t manager = intern_selection(x, "WM_S%d");
    const xcb_intern_atom_cookie_t compositor = intern_selection(x, "_NET_WM_CM_S%d");
    xcb_atom_t *atoms = (xcb_atom_t *)&x->atoms;
    for (int i = 0; i < COUNT; i++) atoms[i] = interned(x, cookies[i]);
    x->manager_selection = interned(x, manager);
    x->compositor_selection = interned(x, compositor);
}

static void begin_resources(upcast_x *x) {
    const xcb_query_extension_reply_t *present = xcb_get_extension_data(x->c, &xcb_res_id);
    if (!present || !present->present) return;
    xcb_res_query_version_reply_t *v = xcb_res_query_version_reply(x->c, xcb_res_query_version(x->c, 1, 2), NULL);
    x->has_resources = v && (v->server_major > 1 || v->server_minor >= 2);
    free(v);
}

int upcast_x_watch_windows(upcast_x *x, uint32_t *windows, size_t capacity) {
    intern(x);
    begin_resources(x);
    // The selection comes first: what happens after it is reported, and what happened before it is in the answers.
    uint32_t events = XCB_EVENT_MASK_STRUCTURE_NOTIFY | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY
        | XCB_EVENT_MASK_PROPERTY_CHANGE;
    xcb_change_window_attributes(x->c, x->screen->root, XCB_CW_EVENT_MASK, &events);
    if (x->has_fixes)
        xcb_xfixes_select_selection_input(
            x->c, x->screen->root, x->compositor_selection,
            XCB_XFIXES_SELECTION_EVENT_MASK_SET_SELECTION_OWNER
                | XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_WINDOW_DESTROY
                | XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_CLIENT_CLOSE);
    x->watches_windows = true;
    xcb_query_tree_reply_t *tree =
        xcb_query_tree_reply(x->c, xcb_query_tree(x->c, x->screen->root), NULL);
    if (!tree) return -1;
    const xcb_window_t *children = xcb_query_tree_children(tree);
    const int count = xcb_query_tree_children_length(tree);
    for (int i = 0; i < count && (size_t)i < capacity; i++) windows[i] = children[i];
    free(tree);
    return count;
}

// Properties.

xcb_get_property_cookie_t upcast_x_ask(upcast_x *x, xcb_window_t window, xcb_atom_t name, uint32_t words) {
    return xcb_get_property(x->c, 0, window, name, XCB_GET_PROPERTY_TYPE_ANY, 0, words);
}

static void take_types(upcast_x *x, xcb_get_property_reply_t *reply, upcast_x_facts *facts) {
    if (reply->format != 32) return;
    const xcb_atom_t *types = xcb_get_property_value(reply);
    for (int i = 0; i < xcb_get_property_value_length(reply) / 4; i++) {
        const xcb_atom_t type = types[i];
        if (type == XCB_NONE) continue;
        if (type == x->atoms.notification) facts->types |= UPCAST_X_NOTIFICATION;
        if (type == x->atoms.dialog || type == x->atoms.utility) facts->types |= UPCAST_X_DIALOG;
        if (type == x->atoms.dropdown || type == x->atoms.popup || type == x->atoms.menu || type == x->atoms.tooltip
            || type == x->atoms.combo)
            facts->types |= UPCAST_X_MENU;
        if (type == x->atoms.dock) facts->types |= UPCAST_X_DOCK;
        if (type == x->atoms.desktop) facts->types |= UPCAST_X_DESKTOP;
    }
}

uint32_t upcast_x_word(const xcb_get_property_reply_t *reply) {
    if (reply->format != 32 || xcb_get_property_value_length(reply) < 4) return 0;
    return *(const uint32_t *)xcb_get_property_value(reply);
}

uint32_t upcast_x_maker(upcast_x *x, xcb_window_t window) {
    return window & ~xcb_get_setup(x->c)->resource_id_mask;
}

/// The window group of WM_HINTS; 0 for none.
static uint32_t group(const xcb_get_property_reply_t *hints) {
    enum { FLAG = 1 << 6, PLACE = 8 };
    const uint32_t *words = xcb_get_property_value(hints);
    if (hints->format != 32 || xcb_get_property_value_length(hints) < (PLACE + 1) * 4) return 0;
    return words[0] & FLAG ? words[PLACE] : 0;
}

/// Adds what else the window says of itself. False if it is gone.
static bool take_properties(upcast_x *x, xcb_window_t window, upcast_x_facts *facts) {
    const xcb_get_property_cookie_t type = upcast_x_ask(x, window, x->atoms.type, 16);
    const xcb_get_property_cookie_t hints = upcast_x_ask(x, window, XCB_ATOM_WM_HINTS, 9);
    const xcb_get_property_cookie_t transient = upcast_x_ask(x, window, XCB_ATOM_WM_TRANSIENT_FOR, 1);
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, type, NULL);
    if (reply) take_types(x, reply, facts);
    free(reply);
    reply = xcb_get_property_reply(x->c, hints, NULL);
    if (reply && group(reply)) facts->group = group(reply);
    free(reply);
    reply = xcb_get_property_reply(x->c, transient, NULL);
    const bool is_there = reply != NULL;
    if (reply && reply->type != XCB_NONE) {
        const uint32_t owner = upcast_x_word(reply);
        // For the root window, or none: for all windows of the group (EWMH). Qt names the leader of the group.
        facts->is_transient_for_group =
            owner == XCB_NONE || owner == x->screen->root || (facts->group && owner == facts->group);
        facts->transient_for = facts->is_transient_for_group ? 0 : owner;
    } else if (facts->group && facts->types & UPCAST_X_DIALOG) {
        // A dialog of GTK's without a parent.
        facts->is_transient_for_group = true;
    }
    free(reply);
    return is_there;
}

static bool is_set(upcast_x *x, xcb_get_property_cookie_t cookie) {
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, cookie, NULL);
    const bool result = reply && reply->type != XCB_NONE;
    free(reply);
    return result;
}

static void watch(upcast_x *x, xcb_window_t window, uint32_t events) {
    xcb_change_window_attributes(x->c, window, XCB_CW_EVENT_MASK, &events);
}

/// What is found in a child of the root window.
struct inside {
    /// The first one that a manager manages, with WM_STATE.
    xcb_window_t managed;
    /// Windows that have a class or a name, or want to be secure.
    xcb_window_t named[UPCAST_X_MAX_INSIDE];
    /// All of them.
    xcb_window_t visited[UPCAST_X_MAX_INSIDE];
    uint32_t named_count, visited_count, secure;
    bool has_unseen;
};

/// Looks at a window and all in it, which may be of other programs. Watches them.
static void look_inside(upcast_x *x, xcb_window_t window, int levels, struct inside *inside) {
    if (inside->visited_count == UPCAST_X_MAX_INSIDE || levels == 0) {
        inside->has_unseen = true;
        return;
    }
    inside->visited[inside->visited_count++] = window;
    watch(x, window, XCB_EVENT_MASK_PROPERTY_CHANGE | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY);
    const xcb_get_property_cookie_t state = upcast_x_ask(x, window, x->atoms.wm_state, 0);
    const xcb_get_property_cookie_t class_name = upcast_x_ask(x, window, XCB_ATOM_WM_CLASS, 0);
    const xcb_get_property_cookie_t name = upcast_x_ask(x, window, XCB_ATOM_WM_NAME, 0);
    const xcb_get_property_cookie_t net_name = upcast_x_ask(x, window, x->atoms.net_name, 0);
    const xcb_get_property_cookie_t secure = upcast_x_ask(x, window, x->atoms.secure, 1);
    const xcb_query_tree_cookie_t inferiors = xcb_query_tree(x->c, window);
    const bool has_state = is_set(x, state), has_class = is_set(x, class_name);
    const bool has_name = is_set(x, name), has_net_name = is_set(x, net_name);
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, secure, NULL);
    // A value that is no number hides the window, too.
    const uint32_t value = reply && reply->value_len ? (reply->format == 32 ? upcast_x_word(reply) : 1) : 0;
    free(reply);
    if (value > inside->secure) inside->secure = value;
    if (has_state && !inside->managed) inside->managed = window;
    if (has_class || has_name || has_net_name || value) inside->named[inside->named_count++] = window;
    // Without an answer, the window is gone: the window around it has an event for that.
    xcb_query_tree_reply_t *tree = xcb_query_tree_reply(x->c, inferiors, NULL);
    if (!tree) return;
    const xcb_window_t *children = xcb_query_tree_children(tree);
    const int count = xcb_query_tree_children_length(tree);
    for (int i = 0; i < count; i++) look_inside(x, children[i], levels - 1, inside);
    free(tree);
}

/// False if the window is gone.
static bool take_place(upcast_x *x, xcb_window_t window, upcast_x_facts *facts) {
    const xcb_get_window_attributes_cookie_t attributes = xcb_get_window_attributes(x->c, window);
    const xcb_get_geometry_cookie_t geometry = xcb_get_geometry(x->c, window);
    facts->sequence = attributes.sequence;
    xcb_get_window_attributes_reply_t *a = xcb_get_window_attributes_reply(x->c, attributes, NULL);
    xcb_get_geometry_reply_t *g = xcb_get_geometry_reply(x->c, geometry, NULL);
    const bool is_there = a && g;
    if (is_there) {
        facts->x = g->x;
        facts->y = g->y;
        facts->width = g->width + 2 * g->border_width;
        facts->height = g->height + 2 * g->border_width;
        // Windows that only take input show nothing.
        facts->is_viewable = a->map_state == XCB_MAP_STATE_VIEWABLE && a->_class != XCB_WINDOW_CLASS_INPUT_ONLY;
        facts->is_override_redirect = a->override_redirect;
    }
    free(a);
    free(g);
    return is_there;
}

static xcb_window_t client_of(upcast_x *x, xcb_window_t window, const struct inside *inside) {
    if (inside->managed) return inside->managed;
    // Managers set WM_STATE when the client may be on the screen already. What they make themselves is no client.
    for (uint32_t i = inside->named_count; i > 0; i--)
        if (!x->manager.maker || upcast_x_maker(x, inside->named[i - 1]) != x->manager.maker)
            return inside->named[i - 1];
    return window;
}

/// Whether a window without a client may be the frame of one that is gone. Panels are none.
static bool may_be_frame(upcast_x *x, const upcast_x_facts *facts) {
    if (!x->manager.is_there || facts->types & (UPCAST_X_DOCK | UPCAST_X_DESKTOP)) return false;
    if (x->manager.maker) return facts->maker == x->manager.maker;
    const upcast_x_names *names = &facts->client_names;
    return !names->class_name[0] && !names->instance[0] && !names->title[0];
}

int upcast_x_read_facts(upcast_x *x, uint32_t window, upcast_x_facts *facts) {
    memset(facts, 0, sizeof *facts);
    bool is_there = take_place(x, window, facts);
    struct inside inside = {0};
    look_inside(x, window, UPCAST_X_MAX_LEVELS, &inside);
    const xcb_window_t client = client_of(x, window, &inside);
    facts->client = client;
    facts->has_frame = inside.managed && inside.managed != window;
    facts->maker = upcast_x_maker(x, window);
    facts->secure = inside.secure;
    facts->has_unseen = inside.has_unseen;
    is_there = is_there && take_properties(x, window, facts);
    if (is_there && client != window) is_there = take_properties(x, client, facts);
    is_there = is_there && upcast_x_read_names(x, client, &facts->client_names) == 0;
    for (uint32_t i = 0; i < inside.named_count; i++)
        if (inside.named[i] != client) facts->others[facts->other_count++] = inside.named[i];
    memcpy(facts->inside, inside.visited, inside.visited_count * sizeof inside.visited[0]);
    facts->inside_count = inside.visited_count;
    facts->is_empty_frame = client == window && !inside.managed && may_be_frame(x, facts);
    if (upcast_x_is_lost(x)) return -1;
    return is_there ? 0 : XCB_WINDOW;
}

int upcast_x_active_window(upcast_x *x, uint32_t *window) {
    xcb_get_property_reply_t *reply =
        xcb_get_property_reply(x->c, upcast_x_ask(x, x->screen->root, x->atoms.active, 1), NULL);
    *window = reply ? upcast_x_word(reply) : XCB_NONE;
    free(reply);
    return upcast_x_is_lost(x) ? -1 : 0;
}
