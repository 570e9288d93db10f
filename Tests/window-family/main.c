// window-family: windows that belong together, or change all the time, for tests of what is hidden with what.
//
//   window-family --title TYPE HEX     a window with a title of this type
//   window-family --group KIND         a window of a group, and a dialog without a parent; KIND is dialog (of that
//                                      type), root or leader (transient for it), or window (an ordinary one)
//   window-family --inner              a window, and a dialog that names a window without a name in it
//   window-family --pair               two windows of one program, the second one over the first
//   window-family --churn              a window in which a window without a name makes and destroys others all the time
//   window-family --flood COUNT        COUNT windows are made and destroyed, then it ends
//   window-family --late PART          a window without a background over one of ff00ff. It draws 200 ms after it was asked
//                                      to: all, half, or inner, when a window in it moves all the time. It gets larger,
//                                      smaller, and is mapped again, a second for each, then it ends
//
// The first window is white, of 200x120 pixels at 40,40, of the class Main; the other one is of ff00ff, 100x60 at 100,80,
// of the class Other. All but the last two wait until they are ended.
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xcb/xcb.h>

static xcb_connection_t *c;
static xcb_screen_t *screen;

static xcb_atom_t atom(const char *name) {
    xcb_intern_atom_reply_t *reply =
        xcb_intern_atom_reply(c, xcb_intern_atom(c, 0, (uint16_t)strlen(name), name), NULL);
    xcb_atom_t result = reply ? reply->atom : XCB_NONE;
    free(reply);
    return result;
}

static xcb_window_t make(xcb_window_t parent, int x, int y, int width, int height, uint32_t colour) {
    const xcb_window_t window = xcb_generate_id(c);
    xcb_create_window(
        c, XCB_COPY_FROM_PARENT, window, parent, (int16_t)x, (int16_t)y, (uint16_t)width, (uint16_t)height, 0,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXEL, &colour);
    return window;
}

/// Window managers leave a window where it wants to be if the user has placed it.
static void set_names(xcb_window_t window, const char *name, int x, int y) {
    char both[128];
    const int length = snprintf(both, sizeof both, "x%c%s", 0, name) + 1;
    xcb_change_property(
        c, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, 8, (uint32_t)length, both);
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

static void set_window(xcb_window_t window, xcb_atom_t name, xcb_atom_t type, uint32_t value) {
    xcb_change_property(c, XCB_PROP_MODE_REPLACE, window, name, type, 32, 1, &value);
}

static void set_group(xcb_window_t window, xcb_window_t leader) {
    const uint32_t hints[9] = {1 << 6 /* WindowGroupHint */, 0, 0, 0, 0, 0, 0, 0, leader};
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
        set_window(dialog, atom("_NET_WM_WINDOW_TYPE"), XCB_ATOM_ATOM, atom("_NET_WM_WINDOW_TYPE_DIALOG"));
    if (!strcmp(kind, "root")) set_window(dialog, XCB_ATOM_WM_TRANSIENT_FOR, XCB_ATOM_WINDOW, screen->root);
    if (!strcmp(kind, "leader")) set_window(dialog, XCB_ATOM_WM_TRANSIENT_FOR, XCB_ATOM_WINDOW, leader);
    xcb_map_window(c, dialog);
}

static void wait_for_server(void) { free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL)); }

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

static void set_size(xcb_window_t window, uint16_t width, uint16_t height) {
    const uint32_t size[] = {width, height};
    xcb_configure_window(c, window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
}

/// What a window that draws late does at each second.
static void take_step(xcb_window_t window, int step) {
    if (step == 1) set_size(window, 300, 200);
    if (step == 2) set_size(window, 160, 100);
    if (step == 3) xcb_unmap_window(c, window);
    if (step == 4) xcb_map_window(c, window);
}

static void draw_late(const char *part) {
    enum { DELAY = 200, STEP = 1000, STEPS = 6 };
    const bool moves = !strcmp(part, "inner");
    const xcb_window_t below = make(screen->root, 0, 0, 640, 360, 0xff00ff), window = make_main();
    const xcb_window_t inner = moves ? make(window, 0, 0, 20, 20, 0xffffff) : XCB_NONE;
    const uint32_t none[] = {XCB_BACK_PIXMAP_NONE, XCB_EVENT_MASK_EXPOSURE}, white = screen->white_pixel;
    xcb_change_window_attributes(c, window, XCB_CW_BACK_PIXMAP | XCB_CW_EVENT_MASK, none);
    const xcb_gcontext_t gc = xcb_generate_id(c);
    xcb_create_gc(c, gc, window, XCB_GC_FOREGROUND, &white);
    xcb_map_window(c, below);
    if (inner) xcb_map_window(c, inner);
    wait_for_server();
    xcb_map_window(c, window);
    int64_t due = INT64_MAX, next = now_ms() + STEP;
    for (int step = 0; step < STEPS && !xcb_connection_has_error(c);) {
        xcb_generic_event_t *event;
        while ((event = xcb_poll_for_event(c))) {
            if ((event->response_type & 0x7f) == XCB_EXPOSE) due = sooner(due, now_ms() + DELAY);
            free(event);
        }
        if (now_ms() >= next) {
            take_step(window, ++step);
            next += STEP;
        }
        if (now_ms() >= due) {
            const xcb_rectangle_t all = {0, 0, 640, strcmp(part, "half") ? 360 : 60};
            xcb_poly_fill_rectangle(c, window, gc, 1, &all);
            due = INT64_MAX;
        }
        const uint32_t left = (uint32_t)(now_ms() % 100);
        if (inner) xcb_configure_window(c, inner, XCB_CONFIG_WINDOW_X, &left);
        xcb_flush(c);
        const int64_t wait = sooner(inner ? 5 : STEP, sooner(due, next) - now_ms());
        poll(&(struct pollfd){.fd = xcb_get_file_descriptor(c), .events = POLLIN}, 1, wait > 0 ? (int)wait : 0);
    }
}

int main(int argc, char **argv) {
    c = xcb_connect(NULL, NULL);
    if (argc < 2 || xcb_connection_has_error(c)) return 1;
    screen = xcb_setup_roots_iterator(xcb_get_setup(c)).data;
    const char *kind = argv[1] + 2, *value = argc > 2 ? argv[2] : "";
    if (!strcmp(kind, "flood")) {
        for (int i = 0; i < atoi(value); i++) xcb_destroy_window(c, make(screen->root, 0, 0, 1, 1, 0));
        wait_for_server();
        return 0;
    }
    if (!strcmp(kind, "late")) {
        draw_late(value);
        return 0;
    }
    const xcb_window_t window = make_main();
    xcb_window_t other = XCB_NONE;
    if (!strcmp(kind, "title") && argc > 3) set_title(window, value, argv[3]);
    if (!strcmp(kind, "group")) begin_group(window, value);
    if (!strcmp(kind, "inner")) {
        other = make_other();
        set_window(other, XCB_ATOM_WM_TRANSIENT_FOR, XCB_ATOM_WINDOW, make(window, 0, 0, 1, 1, 0xffffff));
    }
    xcb_map_window(c, window);
    wait_for_server();
    if (!strcmp(kind, "pair")) other = make_other();
    if (other) xcb_map_window(c, other);
    const xcb_window_t part = strcmp(kind, "churn") ? XCB_NONE : make(window, 0, 0, 1, 1, 0xffffff);
    while (part && !xcb_connection_has_error(c)) {
        const xcb_window_t inner = make(part, 0, 0, 1, 1, 0xffffff);
        wait_for_server();
        xcb_destroy_window(c, inner);
        xcb_flush(c);
        usleep(500);
    }
    xcb_flush(c);
    while (!xcb_connection_has_error(c)) pause();
    return 0;
}
