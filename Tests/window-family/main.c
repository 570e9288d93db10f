// window-family: windows that belong together, or change all the time, for tests of what is hidden with what.
//
//   window-family --title TYPE HEX     a window with a title of this type
//   window-family --group KIND         a window of a group, and a dialog without a parent; KIND is dialog (of that
//                                      type), root or leader (transient for it), or window (an ordinary one)
//   window-family --inner              a window, and a dialog that names a window without a name in it
//   window-family --icon               a window, and another one that it names as its icon
//   window-family --overlay            a window, and one in the overlay window, which takes the keyboard
//   window-family --pair               two windows of one program, the second one over the first
//   window-family --churn              a window in which a window without a name makes and destroys others all the time
//   window-family --flood COUNT        COUNT windows are made and destroyed, then it ends
//   window-family --late PART          a window without a background over one of ff00ff. It draws 200 ms after it was asked
//                                      to: all, half, shape, when it has a shape, or inner, when a window in it moves all
//                                      the time. It gets larger, smaller, and is mapped again, a second for each, then it
//                                      ends
//   window-family --bare HOW           a window without a background comes over one of ff00ff, of the class Other, and
//                                      leaves it without having drawn more than a line, many times: map, raise, resize, or
//                                      hide, when the other window goes instead. Then it ends
//
// The first window is white, of 200x120 pixels at 40,40, of the class Main; the other one is of ff00ff, 100x60 at 100,80,
// of the class Other. All but the last three wait until they are ended.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x11_windows.h>
#include <xcb/composite.h>
#include <xcb/xcb.h>

#include "bare.h"

static xcb_connection_t *c;
static xcb_screen_t *screen;

static xcb_atom_t atom(const char *name) { return x11_atom(c, name); }

static xcb_window_t make(xcb_window_t parent, int x, int y, int width, int height, uint32_t colour) {
    return x11_window(c, parent, x, y, width, height, colour, 0);
}

/// Window managers leave a window where it wants to be if the user has placed it.
static void set_names(xcb_window_t window, const char *name, int x, int y) {
    x11_set_class(c, window, name);
    const uint32_t hints[18] = {1 /* USPosition */, (uint32_t)x, (uint32_t)y};
    xcb_change_property(
        c, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NORMAL_HINTS, XCB_ATOM_WM_SIZE_HINTS, 32, 18, hints);
}

static xcb_window_t make_main(void) {
    const xcb_window_t window = make(screen->root, 40, 40, 200, 120, 0xffffff);
    set_names(window, "Main", 40, 40);
    return window;
}

static xcb_window_t make_other(void) {
    const xcb_window_t window = make(screen->root, 100, 80, 100, 60, 0xff00ff);
    set_names(window, "Other", 100, 80);
    return window;
}

static void set_group(xcb_window_t window, xcb_window_t leader) {
    const uint32_t hints[9] = {1 << 6 /* WindowGroupHint */, 0, 0, 0, 0, 0, 0, 0, leader};
    xcb_change_property(c, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_HINTS, XCB_ATOM_WM_HINTS, 32, 9, hints);
}

static void set_icon(xcb_window_t window, xcb_window_t icon) {
    const uint32_t hints[9] = {1 << 3 /* IconWindowHint */, 0, 0, 0, icon, 0, 0, 0, 0};
    xcb_change_property(c, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_HINTS, XCB_ATOM_WM_HINTS, 32, 9, hints);
}

static void set_title(xcb_window_t window, const char *type, const char *hexadecimal) {
    uint8_t bytes[2048];
    uint32_t count = 0;
    unsigned value;
    for (; count < sizeof bytes && sscanf(hexadecimal + 2 * count, "%2x", &value) == 1; count++)
        bytes[count] = (uint8_t)value;
    xcb_change_property(c, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NAME, atom(type), 8, count, bytes);
}

static void begin_group(xcb_window_t window, const char *kind) {
    const xcb_window_t leader = make(screen->root, 0, 0, 1, 1, 0), dialog = make_other();
    set_group(window, leader);
    set_group(dialog, leader);
    if (!strcmp(kind, "dialog"))
        x11_set_value(c, dialog, atom("_NET_WM_WINDOW_TYPE"), XCB_ATOM_ATOM, atom("_NET_WM_WINDOW_TYPE_DIALOG"));
    if (!strcmp(kind, "root")) x11_set_value(c, dialog, XCB_ATOM_WM_TRANSIENT_FOR, XCB_ATOM_WINDOW, screen->root);
    if (!strcmp(kind, "leader")) x11_set_value(c, dialog, XCB_ATOM_WM_TRANSIENT_FOR, XCB_ATOM_WINDOW, leader);
    xcb_map_window(c, dialog);
}

/// As a compositing manager does that shows something of its own.
static void take_keyboard(void) {
    xcb_composite_get_overlay_window_reply_t *reply = xcb_composite_get_overlay_window_reply(
        c, xcb_composite_get_overlay_window(c, screen->root), NULL);
    if (!reply) return;
    const xcb_window_t window = make(reply->overlay_win, 0, 0, 1, 1, 0);
    free(reply);
    xcb_map_window(c, window);
    xcb_set_input_focus(c, XCB_INPUT_FOCUS_POINTER_ROOT, window, XCB_CURRENT_TIME);
}

int main(int argc, char **argv) {
    c = xcb_connect(NULL, NULL);
    if (argc < 2 || xcb_connection_has_error(c)) return 1;
    screen = xcb_setup_roots_iterator(xcb_get_setup(c)).data;
    const char *kind = argv[1] + 2, *value = argc > 2 ? argv[2] : "";
    if (!strcmp(kind, "flood")) {
        for (int i = 0; i < atoi(value); i++) xcb_destroy_window(c, make(screen->root, 0, 0, 1, 1, 0));
        x11_wait_for_server(c);
        return 0;
    }
    if (!strcmp(kind, "late") || !strcmp(kind, "bare")) {
        (strcmp(kind, "late") ? raise_bare : draw_late)(c, screen, value);
        return 0;
    }
    const xcb_window_t window = make_main();
    xcb_window_t other = XCB_NONE;
    if (!strcmp(kind, "title") && argc > 3) set_title(window, value, argv[3]);
    if (!strcmp(kind, "group")) begin_group(window, value);
    if (!strcmp(kind, "inner")) {
        other = make_other();
        x11_set_value(c, other, XCB_ATOM_WM_TRANSIENT_FOR, XCB_ATOM_WINDOW, make(window, 0, 0, 1, 1, 0xffffff));
    }
    if (!strcmp(kind, "icon")) set_icon(window, other = make_other());
    xcb_map_window(c, window);
    x11_wait_for_server(c);
    if (!strcmp(kind, "overlay")) take_keyboard();
    if (!strcmp(kind, "pair")) other = make_other();
    if (other) xcb_map_window(c, other);
    const xcb_window_t part = strcmp(kind, "churn") ? XCB_NONE : make(window, 0, 0, 1, 1, 0xffffff);
    while (part && !xcb_connection_has_error(c)) {
        const xcb_window_t inner = make(part, 0, 0, 1, 1, 0xffffff);
        x11_wait_for_server(c);
        xcb_destroy_window(c, inner);
        xcb_flush(c);
        usleep(500);
    }
    xcb_flush(c);
    while (!xcb_connection_has_error(c)) pause();
    return 0;
}
