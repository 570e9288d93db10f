// What a child of the root window is, and what is in it.
#include "connection.h"

#include <stdlib.h>
#include <string.h>

struct upcast_x_place_request upcast_x_ask_place(upcast_x *x, xcb_window_t window) {
    struct upcast_x_place_request request;
    request.attributes = xcb_get_window_attributes(x->c, window);
    request.geometry = xcb_get_geometry(x->c, window);
    return request;
}

upcast_x_window upcast_x_take_place(upcast_x *x, xcb_window_t window, struct upcast_x_place_request request) {
    upcast_x_window result = {.window = window};
    xcb_get_window_attributes_reply_t *a = xcb_get_window_attributes_reply(x->c, request.attributes, NULL);
    xcb_get_geometry_reply_t *g = xcb_get_geometry_reply(x->c, request.geometry, NULL);
    if (a && g) {
        result.is_there = true;
        result.x = g->x;
        result.y = g->y;
        result.width = g->width + 2 * g->border_width;
        result.height = g->height + 2 * g->border_width;
        result.is_input_only = a->_class == XCB_WINDOW_CLASS_INPUT_ONLY;
        result.is_viewable = a->map_state == XCB_MAP_STATE_VIEWABLE;
        result.is_override_redirect = a->override_redirect;
    }
    free(a);
    free(g);
    return result;
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

/// Notes the window group and the icon window of WM_HINTS.
static void take_hints(const xcb_get_property_reply_t *hints, upcast_x_facts *facts) {
    enum { HAS_ICON_WINDOW = 1 << 3, ICON_WINDOW = 4, HAS_GROUP = 1 << 6, GROUP = 8 };
    const uint32_t *words = xcb_get_property_value(hints);
    // Old programs write eight words.
    const int count = hints->format == 32 ? xcb_get_property_value_length(hints) / 4 : 0;
    if (count > GROUP && words[0] & HAS_GROUP && words[GROUP]) facts->group = words[GROUP];
    if (count > ICON_WINDOW && words[0] & HAS_ICON_WINDOW && words[ICON_WINDOW]) facts->icon = words[ICON_WINDOW];
}

static void take_icon_place(const xcb_get_property_reply_t *reply, upcast_x_facts *facts) {
    const uint32_t *words = xcb_get_property_value(reply);
    if (reply->format != 32 || xcb_get_property_value_length(reply) != 16) return;
    // Values out of range are ignored: programs write any numbers.
    for (int i = 0; i < 4; i++)
        if ((int32_t)words[i] < (i < 2 ? INT16_MIN : 1) || (int32_t)words[i] > INT16_MAX) return;
    facts->icon_place = (upcast_x_rectangle){
        .x = (int16_t)words[0], .y = (int16_t)words[1], .width = (uint16_t)words[2], .height = (uint16_t)words[3]};
}

/// The requests for properties that the window's program and taskbars set.
struct properties {
    xcb_get_property_cookie_t type, hints, icon_place, transient;
};

static struct properties ask_properties(upcast_x *x, xcb_window_t window) {
    struct properties asked;
    asked.type = upcast_x_ask(x, window, x->atoms.type, 16);
    asked.hints = upcast_x_ask(x, window, XCB_ATOM_WM_HINTS, 9);
    asked.icon_place = upcast_x_ask(x, window, x->atoms.icon_geometry, 4);
    asked.transient = upcast_x_ask(x, window, XCB_ATOM_WM_TRANSIENT_FOR, 1);
    return asked;
}

/// Adds the facts from these properties. False if the window is gone.
static bool take_properties(upcast_x *x, struct properties asked, upcast_x_facts *facts) {
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, asked.type, NULL);
    if (reply) take_types(x, reply, facts);
    free(reply);
    reply = xcb_get_property_reply(x->c, asked.hints, NULL);
    if (reply) take_hints(reply, facts);
    free(reply);
    reply = xcb_get_property_reply(x->c, asked.icon_place, NULL);
    if (reply) take_icon_place(reply, facts);
    free(reply);
    reply = xcb_get_property_reply(x->c, asked.transient, NULL);
    const bool is_there = reply != NULL;
    if (reply && reply->type != XCB_NONE) {
        const uint32_t owner = upcast_x_word(reply);
        // Transient for the root window, or for none, means for all windows of the group (EWMH). Qt names the group's
        // leader.
        facts->is_transient_for_group =
            owner == XCB_NONE || owner == x->screen->root || (facts->group && owner == facts->group);
        facts->transient_for = facts->is_transient_for_group ? 0 : owner;
    } else if (facts->group && facts->types & UPCAST_X_DIALOG) {
        // A GTK dialog without a parent.
        facts->is_transient_for_group = true;
    }
    free(reply);
    return is_there;
}

static xcb_window_t client_of(upcast_x *x, const upcast_x_facts *facts) {
    if (facts->managed) return facts->managed;
    // A client may be on the screen before its manager sets WM_STATE. The manager's own windows are no clients.
    for (uint32_t i = facts->named_count; i > 0; i--)
        if (!x->manager.maker || upcast_x_maker(x, facts->named[i - 1]) != x->manager.maker) return facts->named[i - 1];
    return facts->own.window;
}

/// Whether a window without a client may be the frame of a client that is gone. Panels are no frames.
static bool may_be_frame(upcast_x *x, const upcast_x_facts *facts) {
    if (!x->manager.is_there || facts->types & (UPCAST_X_DOCK | UPCAST_X_DESKTOP)) return false;
    if (x->manager.maker) return facts->maker == x->manager.maker;
    const upcast_x_names *names = &facts->client_names;
    return !names->class_name[0] && !names->instance[0] && !names->title[0];
}

/// Sends the requests for all windows before it takes the first answer: round trips are what costs time.
int upcast_x_read_facts(upcast_x *x, const uint32_t *windows, uint32_t count, upcast_x_facts *facts) {
    memset(facts, 0, count * sizeof *facts);
    struct upcast_x_place_request places[UPCAST_X_READ_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) places[i] = upcast_x_ask_place(x, windows[i]);
    upcast_x_look_inside(x, windows, count, facts);
    struct properties own[UPCAST_X_READ_AT_ONCE], clients[UPCAST_X_READ_AT_ONCE];
    xcb_window_t named[UPCAST_X_READ_AT_ONCE];
    upcast_x_names names[UPCAST_X_READ_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        facts[i].own = upcast_x_take_place(x, windows[i], places[i]);
        facts[i].maker = upcast_x_maker(x, windows[i]);
        facts[i].client = named[i] = client_of(x, &facts[i]);
        facts[i].has_frame = facts[i].managed && facts[i].managed != windows[i];
        own[i] = ask_properties(x, windows[i]);
        clients[i] = ask_properties(x, named[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        // The client's properties come last, so that they take precedence.
        const bool has_own = take_properties(x, own[i], &facts[i]);
        const bool has_clients = take_properties(x, clients[i], &facts[i]);
        facts[i].own.is_there = facts[i].own.is_there && has_own && has_clients;
    }
    if (upcast_x_read_names(x, named, count, names) != 0) return -1;
    for (uint32_t i = 0; i < count; i++) {
        facts[i].client_names = names[i];
        facts[i].own.is_there = facts[i].own.is_there && names[i].is_there;
        facts[i].is_empty_frame = named[i] == windows[i] && !facts[i].managed && may_be_frame(x, &facts[i]);
    }
    return 0;
}
