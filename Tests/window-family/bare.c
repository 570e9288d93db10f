#include "bare.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x11_windows.h>
#include <xcb/xfixes.h>

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

static xcb_window_t make_bare(xcb_connection_t *c, xcb_screen_t *screen, int x, int y, int width, int height) {
    const xcb_window_t window = x11_window(c, screen->root, x, y, width, height, 0, 0);
    const uint32_t values[] = {XCB_BACK_PIXMAP_NONE, XCB_EVENT_MASK_EXPOSURE};
    xcb_change_window_attributes(c, window, XCB_CW_BACK_PIXMAP | XCB_CW_EVENT_MASK, values);
    return window;
}

static xcb_gcontext_t make_white(xcb_connection_t *c, xcb_screen_t *screen) {
    const xcb_gcontext_t gc = xcb_generate_id(c);
    xcb_create_gc(c, gc, screen->root, XCB_GC_FOREGROUND, &screen->white_pixel);
    return gc;
}

static void set_size(xcb_connection_t *c, xcb_window_t window, uint16_t width, uint16_t height) {
    const uint32_t size[] = {width, height};
    xcb_configure_window(c, window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
}

static void move(xcb_connection_t *c, xcb_window_t window, uint32_t x, uint32_t y) {
    const uint32_t place[] = {x, y};
    xcb_configure_window(c, window, XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y, place);
}

static void restack(xcb_connection_t *c, xcb_window_t window, uint32_t mode) {
    xcb_configure_window(c, window, XCB_CONFIG_WINDOW_STACK_MODE, &mode);
}

/// What a window that draws late does at each second.
static void take_step(xcb_connection_t *c, xcb_window_t window, int step) {
    if (step == 1) set_size(c, window, 300, 200);
    if (step == 2) set_size(c, window, 160, 100);
    if (step == 3) xcb_unmap_window(c, window);
    if (step == 4) xcb_map_window(c, window);
}

/// Only the left part of the window belongs to it.
static void set_shape(xcb_connection_t *c, xcb_window_t window) {
    enum { BOUNDING = 0 };
    const xcb_rectangle_t left = {0, 0, 130, 360};
    const xcb_xfixes_region_t region = xcb_generate_id(c);
    free(xcb_xfixes_query_version_reply(c, xcb_xfixes_query_version(c, 5, 0), NULL));
    xcb_xfixes_create_region(c, region, 1, &left);
    xcb_xfixes_set_window_shape_region(c, window, BOUNDING, 0, 0, region);
}

void draw_late(xcb_connection_t *c, xcb_screen_t *screen, const char *part) {
    enum { DELAY = 200, STEP = 1000, STEPS = 6 };
    const xcb_window_t below = x11_window(c, screen->root, 0, 0, 640, 360, 0xff00ff, 0);
    const xcb_window_t window = make_bare(c, screen, 40, 40, 200, 120);
    x11_set_class(c, window, "Main");
    const xcb_window_t inner =
        strcmp(part, "inner") ? XCB_NONE : x11_window(c, window, 0, 0, 20, 20, screen->white_pixel, 0);
    const xcb_gcontext_t gc = make_white(c, screen);
    if (!strcmp(part, "shape")) set_shape(c, window);
    xcb_map_window(c, below);
    if (inner) xcb_map_window(c, inner);
    x11_wait_for_server(c);
    xcb_map_window(c, window);
    int64_t due = INT64_MAX, next = now_ms() + STEP;
    for (int step = 0; step < STEPS && !xcb_connection_has_error(c);) {
        xcb_generic_event_t *event;
        while ((event = xcb_poll_for_event(c))) {
            if ((event->response_type & 0x7f) == XCB_EXPOSE) due = sooner(due, now_ms() + DELAY);
            free(event);
        }
        if (now_ms() >= next) {
            take_step(c, window, ++step);
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

/// The window comes over the other one.
static void come(xcb_connection_t *c, xcb_window_t window, const char *how) {
    if (!strcmp(how, "resize")) set_size(c, window, 10, 10);
    if (!strcmp(how, "raise")) restack(c, window, XCB_STACK_MODE_BELOW);
    move(c, window, 110, 90);
    xcb_map_window(c, window);
    x11_wait_for_server(c);
    if (!strcmp(how, "resize")) set_size(c, window, 120, 80);
    if (!strcmp(how, "raise")) restack(c, window, XCB_STACK_MODE_ABOVE);
}

void raise_bare(xcb_connection_t *c, xcb_screen_t *screen, const char *how) {
    enum { PAUSE = 40000, TIMES = 25 };
    const xcb_window_t other = x11_window(c, screen->root, 100, 80, 100, 60, 0xff00ff, 0);
    x11_set_class(c, other, "Other");
    const xcb_window_t window = make_bare(c, screen, 110, 90, 120, 80);
    const xcb_gcontext_t gc = make_white(c, screen);
    const xcb_point_t corners[] = {{0, 0}, {119, 79}};
    xcb_map_window(c, other);
    for (int i = 0; i < TIMES && !xcb_connection_has_error(c); i++) {
        x11_wait_for_server(c);
        usleep(PAUSE);
        come(c, window, how);
        x11_wait_for_server(c);
        usleep(PAUSE);
        if (strcmp(how, "hide")) move(c, window, 400, 200);
        else xcb_unmap_window(c, other);
        xcb_poly_line(c, XCB_COORD_MODE_ORIGIN, window, gc, 2, corners);
        x11_wait_for_server(c);
        usleep(PAUSE);
        // Programs below draw again, if the capture asks for it; this one never does.
        if (!strcmp(how, "raise")) continue;
        xcb_unmap_window(c, window);
        xcb_map_window(c, other);
    }
    x11_wait_for_server(c);
}
