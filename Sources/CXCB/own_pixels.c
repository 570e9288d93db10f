// Which pixels of a captured window are its own.
//
// Composite keeps the pixels of a window apart from the moment at which it is captured. It allocates them anew when the
// window is mapped or resized, and fills them with what the screen shows there, including other windows. They are the
// window's own once its program has drawn all of them since. The program is asked to draw, and DAMAGE reports what it
// draws. A pixel outside of the shape of the window, or of its frame, is never its own (SHAPE).
#include "connection.h"

#include <stdlib.h>

/// Asks the programs of a window and of all windows inside it to draw. The server paints backgrounds by itself.
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

/// Marks the whole window as missing, and asks its program to draw.
static void renew(upcast_x *x, struct upcast_x_source *source, const upcast_x_layer *layer, uint64_t now_ms) {
    const xcb_rectangle_t all = {0, 0, layer->width, layer->height};
    upcast_x_forget_missing(x, source);
    source->missing = xcb_generate_id(x->c);
    xcb_xfixes_create_region(x->c, source->missing, 1, &all);
    source->width = layer->width;
    source->height = layer->height;
    source->is_new = false;
    source->is_unfinished = true;
    source->since_ms = now_ms;
    xcb_damage_subtract(x->c, source->damage, XCB_NONE, XCB_NONE);
    ask_to_draw(x, source->window);
}

/// Makes the region `visible`: the window's shape, cut by that of its frame.
static void make_shape(upcast_x *x, const upcast_x_layer *layer) {
    enum { BOUNDING = 0 };
    xcb_xfixes_create_region_from_window(x->c, x->composition.visible, layer->window, BOUNDING);
    if (layer->window == layer->top) return;
    xcb_xfixes_create_region_from_window(x->c, x->composition.frame, layer->top, BOUNDING);
    xcb_xfixes_translate_region(x->c, x->composition.frame, (int16_t)-layer->left, (int16_t)-layer->upper);
    xcb_xfixes_intersect_region(x->c, x->composition.visible, x->composition.frame, x->composition.visible);
    xcb_xfixes_destroy_region(x->c, x->composition.frame);
}

void upcast_x_make_visible(upcast_x *x, const struct upcast_x_source *source, const upcast_x_layer *layer) {
    make_shape(x, layer);
    if (source->missing)
        xcb_xfixes_subtract_region(x->c, x->composition.visible, source->missing, x->composition.visible);
}

void upcast_x_end_visible(upcast_x *x) { xcb_xfixes_destroy_region(x->c, x->composition.visible); }

void upcast_x_source_mapped(upcast_x *x, uint32_t top) {
    for (uint32_t i = 0; i < x->composition.count; i++)
        if (x->composition.sources[i].top == top) x->composition.sources[i].is_new = true;
}

void upcast_x_source_configured(upcast_x *x, uint32_t top, int32_t width, int32_t height) {
    for (uint32_t i = 0; i < x->composition.count; i++) {
        struct upcast_x_source *source = &x->composition.sources[i];
        if (source->top != top) continue;
        // Missing pixels may be copied within the window, and DAMAGE reports the copies as drawn.
        if (source->is_unfinished || source->top_width != width || source->top_height != height) source->is_new = true;
        source->top_width = (uint16_t)width;
        source->top_height = (uint16_t)height;
    }
}

void upcast_x_source_moved_inside(upcast_x *x, uint32_t top) {
    for (uint32_t i = 0; i < x->composition.count; i++)
        if (x->composition.sources[i].top == top && x->composition.sources[i].is_unfinished)
            x->composition.sources[i].is_new = true;
}

/// Paints black what the program has not drawn, and asks it once more to draw.
static void erase(upcast_x *x, struct upcast_x_source *source) {
    const xcb_render_color_t black = {0, 0, 0, 0xffff};
    const xcb_rectangle_t all = {0, 0, source->width, source->height};
    xcb_xfixes_set_picture_clip_region(x->c, source->picture, source->missing, 0, 0);
    xcb_render_fill_rectangles(x->c, XCB_RENDER_PICT_OP_SRC, source->picture, black, 1, &all);
    xcb_xfixes_set_picture_clip_region(x->c, source->picture, XCB_NONE, 0, 0);
    upcast_x_forget_missing(x, source);
    source->is_unfinished = false;
    ask_to_draw(x, source->window);
}

/// False without an answer: the window or the server is gone.
static bool is_empty(upcast_x *x, xcb_xfixes_region_t region) {
    xcb_xfixes_fetch_region_reply_t *reply =
        xcb_xfixes_fetch_region_reply(x->c, xcb_xfixes_fetch_region(x->c, region), NULL);
    const bool is_empty = reply && (reply->extents.width == 0 || reply->extents.height == 0);
    free(reply);
    return is_empty;
}

/// Whether the program has drawn all visible pixels of the window.
static bool is_finished(upcast_x *x, struct upcast_x_source *source, const upcast_x_layer *layer) {
    make_shape(x, layer);
    xcb_xfixes_intersect_region(x->c, x->composition.visible, source->missing, x->composition.visible);
    const bool is_finished = is_empty(x, x->composition.visible);
    upcast_x_end_visible(x);
    if (is_finished && is_empty(x, source->missing)) upcast_x_forget_missing(x, source);
    return is_finished;
}

/// How long a program has to draw.
enum { PATIENCE_MS = 500 };

bool upcast_x_take_drawn(upcast_x *x, const upcast_x_layer *layers, uint32_t count, uint64_t now_ms) {
    bool are_whole = true;
    for (uint32_t k = 0; k < count; k++) {
        struct upcast_x_source *source = upcast_x_source_of(x, &layers[k]);
        if (!source) continue;
        if (source->is_new || source->width != layers[k].width || source->height != layers[k].height)
            renew(x, source, &layers[k], now_ms);
        xcb_damage_subtract(x->c, source->damage, XCB_NONE, x->region);
        if (source->missing) xcb_xfixes_subtract_region(x->c, source->missing, x->region, source->missing);
        if (!source->is_unfinished) continue;
        source->is_unfinished = !is_finished(x, source, &layers[k]);
        if (source->is_unfinished && now_ms - source->since_ms >= PATIENCE_MS) erase(x, source);
        are_whole = are_whole && !source->is_unfinished;
    }
    return are_whole;
}
