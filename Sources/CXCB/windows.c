#include "connection.h"

#include <stdlib.h>
#include <string.h>

/// Frames of window managers have at most so many windows around the client.
enum { MAX_LEVELS = 3, MAX_CHILDREN = 64 };

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
    xcb_atom_t *atoms = (xcb_atom_t *)&x->atoms;
    for (int i = 0; i < COUNT; i++) {
        xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(x->c, cookies[i], NULL);
        atoms[i] = reply ? reply->atom : XCB_NONE;
        free(reply);
    }
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

static xcb_get_property_cookie_t ask(upcast_x *x, xcb_window_t window, xcb_atom_t name, uint32_t words) {
    return xcb_get_property(x->c, 0, window, name, XCB_GET_PROPERTY_TYPE_ANY, 0, words);
}

/// Copies text up to a 0 byte. Returns where the next text begins.
static int copy(const char *value, int length, int from, char *target, size_t capacity) {
    size_t written = 0;
    int i = from;
    for (; i < length && value[i]; i++)
        if (written + 1 < capacity) target[written++] = value[i];
    target[written] = 0;
    return i + 1;
}

static void take_class(xcb_get_property_reply_t *reply, upcast_x_facts *facts) {
    const char *value = xcb_get_property_value(reply);
    const int length = xcb_get_property_value_length(reply);
    const int next = copy(value, length, 0, facts->instance, sizeof facts->instance);
    copy(value, length, next, facts->class_name, sizeof facts->class_name);
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

static uint32_t word(xcb_get_property_reply_t *reply) {
    if (reply->format != 32 || xcb_get_property_value_length(reply) < 4) return 0;
    return *(const uint32_t *)xcb_get_property_value(reply);
}

/// Adds what the window says of itself. False if it is gone.
static bool take_properties(upcast_x *x, xcb_window_t window, upcast_x_facts *facts) {
    const xcb_get_property_cookie_t class_cookie = ask(x, window, XCB_ATOM_WM_CLASS, 64);
    const xcb_get_property_cookie_t name = ask(x, window, XCB_ATOM_WM_NAME, 64);
    const xcb_get_property_cookie_t net_name = ask(x, window, x->atoms.net_name, 64);
    const xcb_get_property_cookie_t type = ask(x, window, x->atoms.type, 16);
    const xcb_get_property_cookie_t transient = ask(x, window, XCB_ATOM_WM_TRANSIENT_FOR, 1);
    const xcb_get_property_cookie_t secure = ask(x, window, x->atoms.secure, 1);
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, class_cookie, NULL);
    if (reply && reply->value_len) take_class(reply, facts);
    free(reply);
    reply = xcb_get_property_reply(x->c, name, NULL);
    if (reply && reply->value_len)
        copy(xcb_get_property_value(reply), xcb_get_property_value_length(reply), 0, facts->title, sizeof facts->title);
    free(reply);
    reply = xcb_get_property_reply(x->c, net_name, NULL);
    if (reply && reply->value_len)
        copy(xcb_get_property_value(reply), xcb_get_property_value_length(reply), 0, facts->title, sizeof facts->title);
    free(reply);
    reply = xcb_get_property_reply(x->c, type, NULL);
    if (reply) take_types(x, reply, facts);
    free(reply);
    reply = xcb_get_property_reply(x->c, transient, NULL);
    if (reply && word(reply)) facts->transient_for = word(reply);
    free(reply);
    // The last one tells whether the window is still there.
    reply = xcb_get_property_reply(x->c, secure, NULL);
    if (!reply) return false;
    // A value that is no number hides the window, too.
    const uint32_t value = reply->value_len ? (reply->format == 32 ? word(reply) : 1) : 0;
    if (value > facts->secure) facts->secure = value;
    free(reply);
    return true;
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

/// The window with WM_STATE at or below this one; 0 without one. Watches all windows on the way.
///
/// @param named  the last window on the way that has a class, or wants to be secure: managers set WM_STATE when the
///               client may be on the screen already.
static xcb_window_t client_below(upcast_x *x, xcb_window_t window, int levels, xcb_window_t *named) {
    const uint32_t properties = XCB_EVENT_MASK_PROPERTY_CHANGE;
    watch(x, window, properties | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY);
    const xcb_get_property_cookie_t state = ask(x, window, x->atoms.wm_state, 0);
    const xcb_get_property_cookie_t class_name = ask(x, window, XCB_ATOM_WM_CLASS, 0);
    const xcb_get_property_cookie_t secure = ask(x, window, x->atoms.secure, 0);
    const bool has_state = is_set(x, state), has_class = is_set(x, class_name), is_secure = is_set(x, secure);
    if (has_class || is_secure) *named = window;
    if (has_state) {
        watch(x, window, properties);
        return window;
    }
    if (levels == 0) return 0;
    xcb_query_tree_reply_t *tree = xcb_query_tree_reply(x->c, xcb_query_tree(x->c, window), NULL);
    if (!tree) return 0;
    xcb_window_t found = 0;
    const xcb_window_t *children = xcb_query_tree_children(tree);
    const int count = xcb_query_tree_children_length(tree);
    for (int i = 0; i < count && i < MAX_CHILDREN && !found; i++) 
        found = client_below(x, children[i], levels - 1, named);
    free(tree);
    return found;
}

static uint32_t process_of(upcast_x *x, xcb_window_t window) {
    if (!x->has_resources) return 0;
    const xcb_res_client_id_spec_t spec = {.client = window, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID};
    xcb_res_query_client_ids_reply_t *reply =
        xcb_res_query_client_ids_reply(x->c, xcb_res_query_client_ids(x->c, 1, &spec), NULL);
    if (!reply) return 0;
    uint32_t process = 0;
    for (xcb_res_client_id_value_iterator_t id = xcb_res_query_client_ids_ids_iterator(reply); id.rem;
         xcb_res_client_id_value_next(&id))
        if (id.data->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID && id.data->length >= 4)
            process = *xcb_res_client_id_value_value(id.data);
    free(reply);
    return process;
}

/// The process of the window manager; 0 if nobody knows.
static uint32_t manager(upcast_x *x) {
    xcb_get_property_reply_t *reply =
        xcb_get_property_reply(x->c, ask(x, x->screen->root, x->atoms.manager_check, 1), NULL);
    const xcb_window_t window = reply ? word(reply) : XCB_NONE;
    free(reply);
    return window ? process_of(x, window) : 0;
}

static bool has_manager(upcast_x *x) {
    xcb_get_window_attributes_reply_t *root =
        xcb_get_window_attributes_reply(x->c, xcb_get_window_attributes(x->c, x->screen->root), NULL);
    const bool result = root && root->all_event_masks & XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT;
    free(root);
    return result;
}

/// Whether a window without a client may be the frame of one that is gone.
static bool may_be_frame(upcast_x *x, const upcast_x_facts *facts) {
    if (facts->class_name[0] || facts->instance[0] || facts->title[0] || !has_manager(x)) return false;
    const uint32_t process = manager(x);
    return !process || !facts->process || process == facts->process;
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

int upcast_x_read_facts(upcast_x *x, uint32_t window, upcast_x_facts *facts) {
    memset(facts, 0, sizeof *facts);
    bool is_there = take_place(x, window, facts);
    xcb_window_t named = window;
    const xcb_window_t managed = client_below(x, window, MAX_LEVELS, &named);
    const xcb_window_t client = managed ? managed : named;
    facts->client = client;
    is_there = is_there && take_properties(x, window, facts);
    if (is_there && client != window) is_there = take_properties(x, client, facts);
    facts->process = process_of(x, facts->client);
    facts->is_empty_frame = client == window && may_be_frame(x, facts);
    if (upcast_x_is_lost(x)) return -1;
    return is_there ? 0 : XCB_WINDOW;
}

int upcast_x_active_window(upcast_x *x, uint32_t *window) {
    xcb_get_property_reply_t *reply =
        xcb_get_property_reply(x->c, ask(x, x->screen->root, x->atoms.active, 1), NULL);
    *window = reply ? word(reply) : XCB_NONE;
    free(reply);
    return upcast_x_is_lost(x) ? -1 : 0;
}

void upcast_x_redraw(upcast_x *x, const upcast_x_rectangle *area) {
    if (!x->cover) {
        // Without a background, so that it shows nothing itself.
        const uint32_t values[] = {XCB_BACK_PIXMAP_NONE, 1};
        x->cover = xcb_generate_id(x->c);
        xcb_create_window(
            x->c, XCB_COPY_FROM_PARENT, x->cover, x->screen->root, 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
            XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXMAP | XCB_CW_OVERRIDE_REDIRECT, values);
    }
    const uint32_t place[] = {
        (uint32_t)area->x, (uint32_t)area->y, area->width, area->height, XCB_STACK_MODE_ABOVE};
    xcb_configure_window(
        x->c, x->cover,
        XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y | XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT |
            XCB_CONFIG_WINDOW_STACK_MODE,
        place);
    xcb_map_window(x->c, x->cover);
    xcb_unmap_window(x->c, x->cover);
    xcb_flush(x->c);
}

void upcast_x_watch_drawing(upcast_x *x, bool is_on) {
    if (!x->has_damage || is_on == (x->drawing != XCB_NONE)) return;
    if (is_on) {
        x->drawing = xcb_generate_id(x->c);
        x->drawing_since =
            xcb_damage_create(x->c, x->drawing, x->screen->root, XCB_DAMAGE_REPORT_LEVEL_RAW_RECTANGLES).sequence;
    } else {
        xcb_damage_destroy(x->c, x->drawing);
        x->drawing = XCB_NONE;
    }
}
