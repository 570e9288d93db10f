// The window manager, and which windows it creates itself: frames, panels and menus.
#include "connection.h"

#include <stdlib.h>

static xcb_get_property_cookie_t ask_check(upcast_x *x, xcb_window_t window) {
    return upcast_x_ask(x, window, x->atoms.manager_check, 1);
}

static xcb_window_t checked(upcast_x *x, xcb_get_property_cookie_t cookie) {
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, cookie, NULL);
    const xcb_window_t window = reply ? upcast_x_word(reply) : XCB_NONE;
    free(reply);
    return window;
}

int upcast_x_read_manager(upcast_x *x, upcast_x_manager *manager) {
    const xcb_window_t root = x->screen->root;
    const xcb_get_window_attributes_cookie_t attributes = xcb_get_window_attributes(x->c, root);
    const xcb_get_selection_owner_cookie_t selection = xcb_get_selection_owner(x->c, x->manager_selection);
    const xcb_get_selection_owner_cookie_t compositor = xcb_get_selection_owner(x->c, x->compositor_selection);
    const xcb_get_property_cookie_t check = ask_check(x, root);
    const xcb_get_property_cookie_t desktop = upcast_x_ask(x, root, x->atoms.showing_desktop, 1);
    xcb_get_window_attributes_reply_t *a = xcb_get_window_attributes_reply(x->c, attributes, NULL);
    xcb_get_selection_owner_reply_t *s = xcb_get_selection_owner_reply(x->c, selection, NULL);
    xcb_get_selection_owner_reply_t *p = xcb_get_selection_owner_reply(x->c, compositor, NULL);
    // The owner of WM_Sn (ICCCM), or else the check window (EWMH).
    xcb_window_t window = s ? s->owner : XCB_NONE;
    const xcb_window_t named = checked(x, check);
    // The root's property outlives the manager, and another program's window may then have the ID. So the window must
    // have the property, too.
    if (!window && named && checked(x, ask_check(x, named)) == named) window = named;
    xcb_get_property_reply_t *d = xcb_get_property_reply(x->c, desktop, NULL);
    x->manager.shows_desktop = d && upcast_x_word(d) != 0;
    free(d);
    x->manager.is_there = a && a->all_event_masks & XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT;
    x->manager.maker = x->manager.is_there && window ? upcast_x_maker(x, window) : 0;
    free(a);
    x->manager.compositor = p ? p->owner : XCB_NONE;
    free(s);
    free(p);
    *manager = x->manager;
    return upcast_x_is_lost(x) ? -1 : 0;
}
