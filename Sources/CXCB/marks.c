// Shows small patterns above all other windows. A compositing manager that shows them elsewhere shows all windows
// elsewhere.
#include "connection.h"

#include <stdlib.h>

/// Neighbouring pixels mostly differ, so that scaling blurs them.
static const uint8_t rows[UPCAST_X_MARK_SIDE] = {0xb5, 0x56, 0xab, 0x6c, 0x95, 0x5a, 0xa9, 0x56};

bool upcast_x_mark_is_grey(uint32_t column, uint32_t row) { return rows[row] >> column & 1; }

/// A quarter of the brightness of white; black if the server has no such colour.
static uint32_t grey(upcast_x *x) {
    const uint16_t level = 0x3fff;
    xcb_alloc_color_reply_t *reply = xcb_alloc_color_reply(
        x->c, xcb_alloc_color(x->c, x->screen->default_colormap, level, level, level), NULL);
    const uint32_t pixel = reply ? reply->pixel : x->screen->black_pixel;
    free(reply);
    return pixel;
}

static void make_pattern(upcast_x *x) {
    x->pattern = xcb_generate_id(x->c);
    xcb_create_pixmap(
        x->c, x->screen->root_depth, x->pattern, x->screen->root, UPCAST_X_MARK_SIDE, UPCAST_X_MARK_SIDE);
    const xcb_gcontext_t pen = xcb_generate_id(x->c);
    const uint32_t colours[] = {x->screen->black_pixel, grey(x)};
    xcb_create_gc(x->c, pen, x->pattern, 0, NULL);
    for (int16_t row = 0; row < UPCAST_X_MARK_SIDE; row++)
        for (int16_t column = 0; column < UPCAST_X_MARK_SIDE; column++) {
            const xcb_rectangle_t pixel = {column, row, 1, 1};
            xcb_change_gc(x->c, pen, XCB_GC_FOREGROUND, &colours[upcast_x_mark_is_grey(column, row)]);
            xcb_poly_fill_rectangle(x->c, x->pattern, pen, 1, &pixel);
        }
    xcb_free_gc(x->c, pen);
}

/// The pattern is the background of the window. Managers give a desktop no shadow, and do not let it fade.
static xcb_window_t make_mark(upcast_x *x) {
    const uint32_t values[] = {x->pattern, 1};
    const xcb_window_t mark = xcb_generate_id(x->c);
    xcb_create_window(
        x->c, XCB_COPY_FROM_PARENT, mark, x->screen->root, 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
        XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXMAP | XCB_CW_OVERRIDE_REDIRECT, values);
    upcast_x_call_desktop(x, mark);
    if (x->has_fixes) upcast_x_take_no_input(x, mark);
    return mark;
}

void upcast_x_show_marks(upcast_x *x, const upcast_x_rectangle *places, uint32_t *windows) {
    if (!x->pattern) make_pattern(x);
    for (int i = 0; i < UPCAST_X_MARKS; i++) {
        if (!x->marks[i]) x->marks[i] = make_mark(x);
        upcast_x_map_at(x, x->marks[i], &places[i], XCB_STACK_MODE_ABOVE);
        windows[i] = x->marks[i];
    }
    xcb_flush(x->c);
}

void upcast_x_hide_marks(upcast_x *x) {
    for (int i = 0; i < UPCAST_X_MARKS; i++) {
        if (x->marks[i]) xcb_destroy_window(x->c, x->marks[i]);
        x->marks[i] = XCB_NONE;
    }
    xcb_flush(x->c);
}
