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
        "_NET_CURRENT_DESKTOP",
        "_NET_SHOWING_DESKTOP",
        "_NET_WM_ICON_GEOMETRY",
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
    if (!upcast_x_has(x, &xcb_res_id)) return;
    xcb_res_query_version_reply_t *v = xcb_res_query_version_reply(x->c, xcb_res_query_version(x->c, 1, 2), NULL);
    x->has_resources = v && (v->server_major > 1 || v->server_minor >= 2);
    free(v);
    // Another machine and another PID namespace have other process IDs. A relay such as ssh -X has its own.
    if (x->has_resources) upcast_x_begin_processes(x);
}

xcb_get_property_cookie_t upcast_x_ask(upcast_x *x, xcb_window_t window, xcb_atom_t name, uint32_t words) {
    return xcb_get_property(x->c, 0, window, name, XCB_GET_PROPERTY_TYPE_ANY, 0, words);
}

uint32_t upcast_x_word(const xcb_get_property_reply_t *reply) {
    if (reply->format != 32 || xcb_get_property_value_length(reply) < 4) return 0;
    return *(const uint32_t *)xcb_get_property_value(reply);
}

uint32_t upcast_x_own_client(upcast_x *x) { return xcb_get_setup(x->c)->resource_id_base; }

uint32_t upcast_x_resource_mask(upcast_x *x) { return xcb_get_setup(x->c)->resource_id_mask; }

uint32_t upcast_x_maker(upcast_x *x, xcb_window_t window) {
    return window & ~upcast_x_resource_mask(x);
}

int upcast_x_moment(upcast_x *x, uint32_t *sequence) {
    const xcb_get_input_focus_cookie_t cookie = xcb_get_input_focus(x->c);
    *sequence = cookie.sequence;
    free(xcb_get_input_focus_reply(x->c, cookie, NULL));
    return upcast_x_is_lost(x) ? -1 : 0;
}

void upcast_x_grab_server(upcast_x *x, bool is_on) {
    if (is_on)
        xcb_grab_server(x->c);
    else
        xcb_ungrab_server(x->c);
    xcb_flush(x->c);
}

enum { PLACES_AT_ONCE = 64 };

/// The children of the root window. Returns their number; -1 where the connection is lost.
static int list(upcast_x *x, upcast_x_window *windows, size_t capacity) {
    xcb_query_tree_reply_t *tree =
        xcb_query_tree_reply(x->c, xcb_query_tree(x->c, x->screen->root), NULL);
    if (!tree) return -1;
    const xcb_window_t *children = xcb_query_tree_children(tree);
    const int count = xcb_query_tree_children_length(tree);
    const int listed = (size_t)count < capacity ? count : (int)capacity;
    struct upcast_x_place_request requests[PLACES_AT_ONCE];
    for (int done = 0, asked = 0; done < listed; done++) {
        for (; asked < listed && asked - done < PLACES_AT_ONCE; asked++)
            requests[asked % PLACES_AT_ONCE] = upcast_x_ask_place(x, children[asked]);
        windows[done] = upcast_x_take_place(x, children[done], requests[done % PLACES_AT_ONCE]);
    }
    free(tree);
    return upcast_x_is_lost(x) ? -1 : count;
}

int upcast_x_watch_windows(upcast_x *x, upcast_x_window *windows, size_t capacity) {
    intern(x);
    begin_resources(x);
    // The server is grabbed, so that nothing happens between the selection of events and the last answer.
    upcast_x_grab_server(x, true);
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
    const int count = list(x, windows, capacity);
    upcast_x_grab_server(x, false);
    return count;
}

/// A manager may give the focus back, and fade out what it has shown, between two questions. So this is sent at once.
static void watch_focus(upcast_x *x, xcb_window_t overlay) {
    const uint32_t events = XCB_EVENT_MASK_FOCUS_CHANGE;
    x->focus.since = xcb_change_window_attributes(x->c, overlay, XCB_CW_EVENT_MASK, &events).sequence;
    x->focus.overlay = overlay;
    xcb_flush(x->c);
}

/// A manager has the overlay window already: it is not made for this.
static void find_overlay(upcast_x *x) {
    if (!upcast_x_has(x, &xcb_composite_id)) return;
    // Servers refuse other requests before this one.
    free(xcb_composite_query_version_reply(x->c, xcb_composite_query_version(x->c, 0, 4), NULL));
    const xcb_window_t root = x->screen->root;
    const xcb_composite_get_overlay_window_cookie_t cookie = xcb_composite_get_overlay_window(x->c, root);
    xcb_composite_release_overlay_window(x->c, root);
    xcb_composite_get_overlay_window_reply_t *reply = xcb_composite_get_overlay_window_reply(x->c, cookie, NULL);
    if (reply) watch_focus(x, reply->overlay_win);
    free(reply);
}

int upcast_x_overlay_focus(upcast_x *x, bool *has_focus) {
    if (!x->focus.overlay) find_overlay(x);
    xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(x->c, xcb_get_input_focus(x->c), NULL);
    const xcb_window_t focus = reply ? reply->focus : XCB_NONE;
    free(reply);
    if (focus != x->focus.window) {
        x->focus.window = focus;
        x->focus.is_in_overlay = false;
        for (xcb_window_t window = focus; window > XCB_INPUT_FOCUS_POINTER_ROOT && window != x->screen->root;) {
            xcb_query_tree_reply_t *tree = xcb_query_tree_reply(x->c, xcb_query_tree(x->c, window), NULL);
            // The server itself has made the overlay window, which is no child in the answers for the root window.
            const bool is_overlay = tree && tree->parent == x->screen->root && !upcast_x_maker(x, window);
            if (is_overlay) watch_focus(x, window);
            x->focus.is_in_overlay = is_overlay || !tree;
            if (!tree) x->focus.window = UINT32_MAX;
            window = tree ? tree->parent : XCB_NONE;
            free(tree);
        }
    }
    *has_focus = x->focus.is_in_overlay;
    return upcast_x_is_lost(x) ? -1 : 0;
}

int upcast_x_active_window(upcast_x *x, uint32_t *window) {
    xcb_get_property_reply_t *reply =
        xcb_get_property_reply(x->c, upcast_x_ask(x, x->screen->root, x->atoms.active, 1), NULL);
    *window = reply ? upcast_x_word(reply) : XCB_NONE;
    free(reply);
    return upcast_x_is_lost(x) ? -1 : 0;
}
