// Paints over what windows have left on the screen, and makes the programs below draw again.
#include "connection.h"

void upcast_x_take_no_input(upcast_x *x, xcb_window_t window) {
    enum { INPUT = 2 };
    const xcb_xfixes_region_t nothing = xcb_generate_id(x->c);
    xcb_xfixes_create_region(x->c, nothing, 0, NULL);
    xcb_xfixes_set_window_shape_region(x->c, window, INPUT, 0, 0, nothing);
    xcb_xfixes_destroy_region(x->c, nothing);
}

/// The cover has no background, so that it shows nothing, and no input area, so that the pointer stays in its window.
static void make_cover(upcast_x *x) {
    const uint32_t values[] = {XCB_BACK_PIXMAP_NONE, 1};
    x->cover = xcb_generate_id(x->c);
    xcb_create_window(
        x->c, XCB_COPY_FROM_PARENT, x->cover, x->screen->root, 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
        XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXMAP | XCB_CW_OVERRIDE_REDIRECT, values);
    if (x->has_fixes) upcast_x_take_no_input(x, x->cover);
}

static void make_eraser(upcast_x *x) {
    const uint32_t values[] = {x->screen->black_pixel, XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS, 0};
    x->eraser = xcb_generate_id(x->c);
    xcb_create_gc(
        x->c, x->eraser, x->screen->root, XCB_GC_FOREGROUND | XCB_GC_SUBWINDOW_MODE | XCB_GC_GRAPHICS_EXPOSURES,
        values);
}

void upcast_x_map_at(upcast_x *x, xcb_window_t window, const upcast_x_rectangle *area, uint32_t stack_mode) {
    const uint32_t place[] = {(uint32_t)area->x, (uint32_t)area->y, area->width, area->height, stack_mode};
    xcb_configure_window(
        x->c, window,
        XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y | XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT |
            XCB_CONFIG_WINDOW_STACK_MODE,
        place);
    xcb_map_window(x->c, window);
}

static void redraw(upcast_x *x, const upcast_x_rectangle *area) {
    upcast_x_map_at(x, x->cover, area, XCB_STACK_MODE_ABOVE);
    xcb_unmap_window(x->c, x->cover);
}

uint32_t upcast_x_erase(upcast_x *x, const upcast_x_rectangle *areas, uint32_t count) {
    if (!x->cover) make_cover(x);
    if (!x->eraser) make_eraser(x);
    xcb_rectangle_t rectangles[UPCAST_X_MAX_ERASED];
    if (count > UPCAST_X_MAX_ERASED) count = UPCAST_X_MAX_ERASED;
    for (uint32_t i = 0; i < count; i++)
        rectangles[i] = (xcb_rectangle_t){areas[i].x, areas[i].y, areas[i].width, areas[i].height};
    const uint32_t sequence =
        xcb_poly_fill_rectangle(x->c, x->screen->root, x->eraser, count, rectangles).sequence;
    for (uint32_t i = 0; i < count; i++) redraw(x, &areas[i]);
    xcb_flush(x->c);
    return sequence;
}
