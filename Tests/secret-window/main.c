// secret-window: windows of one colour that move, change and vanish at random, for tests of what hides them.
//
//   secret-window [--property | --class NAME] [--seed N] [--steps N] [--pause-us N] [--menus]
//   secret-window --popup NAME [stay]
//   secret-window --inside COUNT LEVELS
//   secret-window --clients COUNT
//   secret-window --unseen [apart]
//   secret-window --input-only [VALUE]
//   secret-window --cursor NAME
//
// All are filled with ff00ff. The windows have the property _UPCAST_SECURE, or the class, from before they are mapped.
// With --popup, a white window of 200x120 pixels at 40,40 has the class, and a menu of 60x40, with a border of 8, comes
// and goes over it, at 100,80, each second; or comes and stays.
// With --inside, a white window of that place has the class Crowd, and COUNT windows in it of the classes Inner0, Inner1 and
// so on. The last one contains another one, and so on, LEVELS in all; the innermost has the property _UPCAST_SECURE.
// With --clients, a window has the property, and COUNT further X clients of the process come one after the other, map a
// menu, and end at some moment of the next millisecond.
// With --unseen, a window has the property, and ends before any other program can look at it. A menu of 60x40 pixels at
// 100,160 stays; with apart, it is of another X client of the process.
// With --input-only, a window of 60x40 pixels at 300,200 that only takes input is mapped, and its number written to
// standard output. It has this value of the property from before it is mapped.
// With --cursor, a white window of 200x120 pixels at 40,40 has the class, and gives the pointer a square of 32 pixels for
// a shape, wherever that is.
// With --menus, override-redirect windows without a class or the property come and go beside them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x11_windows.h>
#include <xcb/xcb.h>

enum { WINDOWS = 3 };

static xcb_connection_t *c;
static xcb_screen_t *screen;
static uint64_t state;

static uint32_t below(uint32_t limit) {
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % limit);
}

static xcb_window_t make(int is_menu) {
    const uint32_t values[] = {0xff00ff, 0x00ff00, (uint32_t)is_menu};
    xcb_window_t window = xcb_generate_id(c);
    xcb_create_window(
        c, XCB_COPY_FROM_PARENT, window, screen->root, (int16_t)below(400), (int16_t)below(200), 120, 80, 0,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
        XCB_CW_BACK_PIXEL | XCB_CW_BORDER_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
    return window;
}

static xcb_window_t place(int x, int y, int width, int height, uint32_t colour, uint32_t is_menu) {
    return x11_window(c, screen->root, x, y, width, height, colour, is_menu);
}

static void set_class(xcb_window_t window, const char *name) { x11_set_class(c, window, name); }

static void ask_to_be_hidden(xcb_window_t window) {
    x11_set_value(c, window, x11_atom(c, "_UPCAST_SECURE"), XCB_ATOM_CARDINAL, 1);
}

/// Until it is ended.
static int show_popup(const char *name, int stays) {
    enum { BORDER = 8 };
    const xcb_window_t window = place(40, 40, 200, 120, 0xffffff, 0);
    set_class(window, name);
    xcb_map_window(c, window);
    for (;;) {
        xcb_flush(c);
        usleep(1000000);
        const xcb_window_t menu = place(100 - BORDER, 80 - BORDER, 60, 40, 0xff00ff, 1);
        const uint32_t border = BORDER;
        xcb_configure_window(c, menu, XCB_CONFIG_WINDOW_BORDER_WIDTH, &border);
        xcb_map_window(c, menu);
        xcb_flush(c);
        usleep(1000000);
        while (stays && !xcb_connection_has_error(c)) usleep(100000);
        xcb_destroy_window(c, menu);
        if (xcb_connection_has_error(c)) return 1;
    }
}

static xcb_window_t make_inside(xcb_window_t parent) {
    const xcb_window_t window = xcb_generate_id(c);
    xcb_create_window(
        c, XCB_COPY_FROM_PARENT, window, parent, 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, 0,
        NULL);
    return window;
}

/// Until it is ended.
static int show_crowd(int count, int levels) {
    const xcb_window_t window = place(40, 40, 200, 120, 0xffffff, 0);
    xcb_window_t last = window;
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "Inner%d", i);
        last = make_inside(window);
        set_class(last, name);
    }
    for (int i = 0; i < levels; i++) last = make_inside(last);
    ask_to_be_hidden(last);
    set_class(window, "Crowd");
    xcb_map_window(c, window);
    xcb_flush(c);
    while (!xcb_connection_has_error(c)) pause();
    return 0;
}

static int show_clients(int count) {
    const xcb_window_t window = place(300, 200, 60, 40, 0xff00ff, 0);
    ask_to_be_hidden(window);
    xcb_map_window(c, window);
    xcb_flush(c);
    for (int i = 0; i < count; i++) {
        c = xcb_connect(NULL, NULL);
        if (xcb_connection_has_error(c)) return 1;
        xcb_map_window(c, make(1));
        x11_wait_for_server(c);
        usleep(below(1000));
        xcb_disconnect(c);
    }
    return 0;
}

static void show_menu(void) { xcb_map_window(c, place(100, 160, 60, 40, 0xff00ff, 1)); }

/// Until it is ended.
static int show_menu_of_unseen(int is_apart) {
    const xcb_atom_t secure = x11_atom(c, "_UPCAST_SECURE");
    // A server does what is sent at once before it listens to another client, unless that takes longer than its turns.
    const xcb_window_t window = place(40, 40, 200, 120, 0xff00ff, 0);
    x11_set_value(c, window, secure, XCB_ATOM_CARDINAL, 1);
    xcb_map_window(c, window);
    if (!is_apart) show_menu();
    xcb_destroy_window(c, window);
    if (is_apart) {
        x11_wait_for_server(c);
        c = xcb_connect(NULL, NULL);
        if (xcb_connection_has_error(c)) return 1;
        show_menu();
    }
    xcb_flush(c);
    while (!xcb_connection_has_error(c)) pause();
    return 0;
}

/// Until it is ended.
static int show_input_only(uint32_t value) {
    const xcb_window_t window = xcb_generate_id(c);
    xcb_create_window(
        c, XCB_COPY_FROM_PARENT, window, screen->root, 300, 200, 60, 40, 0, XCB_WINDOW_CLASS_INPUT_ONLY,
        XCB_COPY_FROM_PARENT, 0, NULL);
    if (value) x11_set_value(c, window, x11_atom(c, "_UPCAST_SECURE"), XCB_ATOM_CARDINAL, value);
    xcb_map_window(c, window);
    x11_wait_for_server(c);
    printf("%u\n", window);
    fflush(stdout);
    while (!xcb_connection_has_error(c)) pause();
    return 0;
}

/// A square of one colour.
static xcb_cursor_t make_cursor(void) {
    enum { SIZE = 32 };
    const xcb_pixmap_t all = xcb_generate_id(c);
    xcb_create_pixmap(c, 1, all, screen->root, SIZE, SIZE);
    const xcb_gcontext_t gc = xcb_generate_id(c);
    const uint32_t one = 1;
    xcb_create_gc(c, gc, all, XCB_GC_FOREGROUND, &one);
    const xcb_rectangle_t whole = {0, 0, SIZE, SIZE};
    xcb_poly_fill_rectangle(c, all, gc, 1, &whole);
    const xcb_cursor_t cursor = xcb_generate_id(c);
    xcb_create_cursor(c, cursor, all, all, 0xffff, 0, 0xffff, 0, 0, 0, SIZE / 2, SIZE / 2);
    return cursor;
}

/// As while something is dragged, until it is ended.
static int show_cursor(const char *name) {
    const xcb_window_t window = place(40, 40, 200, 120, 0xffffff, 0);
    set_class(window, name);
    xcb_map_window(c, window);
    x11_wait_for_server(c);
    free(xcb_grab_pointer_reply(
        c,
        xcb_grab_pointer(
            c, 0, window, XCB_EVENT_MASK_BUTTON_PRESS, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC, XCB_NONE, make_cursor(),
            XCB_CURRENT_TIME),
        NULL));
    while (!xcb_connection_has_error(c)) pause();
    return 0;
}

int main(int argc, char **argv) {
    const char *class_name = NULL;
    int steps = 1000, pause_us = 1000, menus = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--class")) class_name = value, i++;
        else if (!strcmp(argv[i], "--seed")) state = strtoull(value, NULL, 10), i++;
        else if (!strcmp(argv[i], "--steps")) steps = atoi(value), i++;
        else if (!strcmp(argv[i], "--pause-us")) pause_us = atoi(value), i++;
        else if (!strcmp(argv[i], "--menus")) menus = 1;
    }
    c = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(c)) return 1;
    screen = xcb_setup_roots_iterator(xcb_get_setup(c)).data;
    if (argc > 2 && !strcmp(argv[1], "--popup")) return show_popup(argv[2], argc > 3);
    if (argc > 3 && !strcmp(argv[1], "--inside")) return show_crowd(atoi(argv[2]), atoi(argv[3]));
    if (argc > 2 && !strcmp(argv[1], "--clients")) return show_clients(atoi(argv[2]));
    if (argc > 2 && !strcmp(argv[1], "--cursor")) return show_cursor(argv[2]);
    if (argc > 1 && !strcmp(argv[1], "--unseen")) return show_menu_of_unseen(argc > 2);
    if (argc > 1 && !strcmp(argv[1], "--input-only")) return show_input_only(argc > 2 ? (uint32_t)atoi(argv[2]) : 0);
    const xcb_atom_t secure = x11_atom(c, "_UPCAST_SECURE");
    xcb_window_t windows[WINDOWS] = {0}, menu = 0;
    for (int step = 0; step < steps; step++) {
        xcb_window_t *window = &windows[below(WINDOWS)];
        const uint32_t action = *window ? below(10) : 10;
        if (action == 10) {
            *window = make(0);
            if (class_name)
                set_class(*window, class_name);
            else
                x11_set_value(c, *window, secure, XCB_ATOM_CARDINAL, 1);
            xcb_map_window(c, *window);
        } else if (action == 0) {
            xcb_destroy_window(c, *window);
            *window = 0;
        } else if (action == 1) {
            xcb_unmap_window(c, *window);
        } else if (action <= 3) {
            xcb_map_window(c, *window);
        } else if (action <= 5) {
            const uint32_t size[] = {20 + below(200), 20 + below(120), below(4)};
            xcb_configure_window(
                c, *window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT | XCB_CONFIG_WINDOW_BORDER_WIDTH, size);
        } else if (action == 6) {
            const uint32_t above = XCB_STACK_MODE_ABOVE;
            xcb_configure_window(c, *window, XCB_CONFIG_WINDOW_STACK_MODE, &above);
        } else {
            const uint32_t place[] = {below(600) - 60, below(340) - 40};
            xcb_configure_window(c, *window, XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y, place);
        }
        if (menus && !below(3)) {
            if (menu) xcb_destroy_window(c, menu);
            menu = below(2) ? make(1) : 0;
            if (menu) xcb_map_window(c, menu);
        }
        xcb_flush(c);
        usleep((useconds_t)(pause_us / 2 + (int)below((uint32_t)pause_us + 1)));
    }
    xcb_disconnect(c);
    return 0;
}
