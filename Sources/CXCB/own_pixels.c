// Which pixels of a captured window are its own.
//
// Composite keeps the pixels of a window apart from the moment at which it is captured. It makes them anew when the window
// is mapped or gets another size, and fills them with what the screen shows there: also with other windows. They are the
// window's own when its program has drawn all of them since. It is asked to do so, and DAMAGE tells when it has.
#include "connection.h"

#include <stdlib.h>

/// Asks the programs of a window and of all in it to draw. The server paints backgrounds by itself.
static void expose(upcast_x *x, xcb_window_t window, int levels, uint32_t *left) {
    if (levels == 0 || *left == 0) return;
    --*left;
    const xcb_query_tree_cookie_t inferiors = xcb_query_tree(x->c, window);
    xcb_clear_area(x->c, true, window, 0, 0, 0, 0);
    xcb_query_tree_reply_t *tree = xcb_query_tree_reply(x->c, inferiors, NULL);
    if (!tree) return;
    const int count = xcb_query_tree_children_length(tree);
    for (int i = 0; i < count; i++) expose(x, xcb_query_tree_children(tree)[i], levels - 1, left);
    free(tree);
}

static void ask_to_draw(upcast_x *x, xcb_window_t window) {
    uint32_t left = UPCAST_X_MAX_INSIDE;
    expose(x, window, UPCAST_X_MAX_LEVELS, &left);
}

void upcast_x_forget_missing(upcast_x *x, struct upcast_x_source *source) {
    if (source->missing) xcb_xfixes_destroy_region(x->c, source->missing);
    source->missing = XCB_NONE;
}

/// All of it is missing from here on.
static void renew(upcast_x *x, struct upcast_x_source *source, const upcast_x_layer *layer) {
    const xcb_rectangle_t all = {0, 0, layer->width, layer->height};
    upcast_x_forget_missing(x, source);
    source->missing = xcb_generate_id(x->c);
    xcb_xfixes_create_region(x->c, source->missing, 1, &all);
    source->width = layer->width;
    source->height = layer->height;
    source->is_new = false;
    xcb_damage_subtract(x->c, source->damage, XCB_NONE, XCB_NONE);
    ask_to_draw(x, source->window);
}

void upcast_x_source_mapped(upcast_x *x, uint32_t top) {
    for (uint32_t i = 0; i < x->composition.count; i++)
        if (x->composition.sources[i].top == top) x->composition.sources[i].is_new = true;
}

void upcast_x_source_configured(upcast_x *x, uint32_t top, int32_t width, int32_t height) {
    for (uint32_t i = 0; i < x->composition.count; i++) {
        struct upcast_x_source *source = &x->composition.sources[i];
        if (source->top != top) continue;
        // What is missing may be copied within the window, which DAMAGE reports as drawn.
        if (source->missing || source->top_width != width || source->top_height != height) source->is_new = true;
        source->top_width = (uint16_t)width;
        source->top_height = (uint16_t)height;
    }
}

void upcast_x_source_moved_inside(upcast_x *x, uint32_t top) {
    for (uint32_t i = 0; i < x->composition.count; i++)
        if (x->composition.sources[i].top == top && x->composition.sources[i].missing)
            x->composition.sources[i].is_new = true;
}

/// Paints over what its program has not drawn, and asks it once more.
static void erase(upcast_x *x, struct upcast_x_source *source) {
    const xcb_render_color_t black = {0, 0, 0, 0xffff};
    const xcb_rectangle_t all = {0, 0, source->width, source->height};
    xcb_xfixes_set_picture_clip_region(x->c, source->picture, source->missing, 0, 0);
    xcb_render_fill_rectangles(x->c, XCB_RENDER_PICT_OP_SRC, source->picture, black, 1, &all);
    xcb_xfixes_set_picture_clip_region(x->c, source->picture, XCB_NONE, 0, 0);
    upcast_x_forget_missing(x, source);
    ask_to_draw(x, source->window);
}

/// Whether nothing is missing after what was drawn until now.
static bool is_whole(upcast_x *x, struct upcast_x_source *source) {
    xcb_damage_subtract(x->c, source->damage, XCB_NONE, x->region);
    xcb_xfixes_subtract_region(x->c, source->missing, x->region, source->missing);
    xcb_xfixes_fetch_region_reply_t *missing =
        xcb_xfixes_fetch_region_reply(x->c, xcb_xfixes_fetch_region(x->c, source->missing), NULL);
    // Without an answer, the window or the server is gone.
    const bool is_whole = missing && (missing->extents.width == 0 || missing->extents.height == 0);
    free(missing);
    if (is_whole) upcast_x_forget_missing(x, source);
    return is_whole;
}

bool upcast_x_take_drawn(upcast_x *x, const upcast_x_layer *layers, uint32_t count, bool erases) {
    bool are_whole = true;
    for (uint32_t k = 0; k < count; k++) {
        struct upcast_x_source *source = upcast_x_source_of(x, &layers[k]);
        if (!source) continue;
        if (source->is_new || source->width != layers[k].width || source->height != layers[k].height)
            renew(x, source, &layers[k]);
        if (!source->missing) {
            xcb_damage_subtract(x->c, source->damage, XCB_NONE, XCB_NONE);
        } else if (!is_whole(x, source)) {
            if (erases) erase(x, source);
            are_whole = are_whole && erases;
        }
    }
    return are_whole;
}
