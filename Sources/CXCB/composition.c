// Pictures of chosen windows, even where others cover them: Composite keeps the pixels of each window, and RENDER
// combines them, whatever their visuals.
#include "connection.h"

#include <stdlib.h>
#include <string.h>

static xcb_render_pictformat_t format_of(upcast_x *x, xcb_visualid_t visual) {
    for (xcb_render_pictscreen_iterator_t s = xcb_render_query_pict_formats_screens_iterator(x->composition.formats);
         s.rem; xcb_render_pictscreen_next(&s))
        for (xcb_render_pictdepth_iterator_t d = xcb_render_pictscreen_depths_iterator(s.data); d.rem;
             xcb_render_pictdepth_next(&d))
            for (xcb_render_pictvisual_iterator_t v = xcb_render_pictdepth_visuals_iterator(d.data); v.rem;
                 xcb_render_pictvisual_next(&v))
                if (v.data->visual == visual) return v.data->format;
    return XCB_NONE;
}

static bool has_alpha(upcast_x *x, xcb_render_pictformat_t format) {
    for (xcb_render_pictforminfo_iterator_t f =
             xcb_render_query_pict_formats_formats_iterator(x->composition.formats);
         f.rem; xcb_render_pictforminfo_next(&f))
        if (f.data->id == format) return f.data->direct.alpha_mask != 0;
    return false;
}

bool upcast_x_begin_composition(upcast_x *x) {
    if (!x->has_damage || !upcast_x_has(x, &xcb_composite_id) || !upcast_x_has(x, &xcb_render_id)) return false;
    xcb_composite_query_version_reply_t *composite =
        xcb_composite_query_version_reply(x->c, xcb_composite_query_version(x->c, 0, 4), NULL);
    const bool has_composite = composite && (composite->major_version > 0 || composite->minor_version >= 2);
    free(composite);
    if (!has_composite) return false;
    free(xcb_render_query_version_reply(x->c, xcb_render_query_version(x->c, 0, 11), NULL));
    x->composition.formats =
        xcb_render_query_pict_formats_reply(x->c, xcb_render_query_pict_formats(x->c), NULL);
    if (!x->composition.formats || !format_of(x, x->screen->root_visual)) return false;
    x->composition.visible = xcb_generate_id(x->c);
    x->composition.frame = xcb_generate_id(x->c);
    x->composition.nothing = xcb_generate_id(x->c);
    xcb_xfixes_create_region(x->c, x->composition.nothing, 0, NULL);
    return true;
}

static void free_target(upcast_x *x) {
    if (!x->composition.pixmap) return;
    xcb_render_free_picture(x->c, x->composition.picture);
    xcb_free_pixmap(x->c, x->composition.pixmap);
    x->composition.pixmap = XCB_NONE;
}

static void make_target(upcast_x *x, uint16_t width, uint16_t height) {
    if (x->composition.pixmap && x->composition.width == width && x->composition.height == height) return;
    free_target(x);
    x->composition.pixmap = xcb_generate_id(x->c);
    xcb_create_pixmap(x->c, x->screen->root_depth, x->composition.pixmap, x->screen->root, width, height);
    x->composition.picture = xcb_generate_id(x->c);
    xcb_render_create_picture(
        x->c, x->composition.picture, x->composition.pixmap, format_of(x, x->screen->root_visual), 0, NULL);
    x->composition.width = width;
    x->composition.height = height;
}

static void end_source(upcast_x *x, struct upcast_x_source *source) {
    xcb_render_free_picture(x->c, source->picture);
    xcb_damage_destroy(x->c, source->damage);
    upcast_x_forget_missing(x, source);
    xcb_composite_unredirect_window(x->c, source->top, XCB_COMPOSITE_REDIRECT_AUTOMATIC);
}

/// False if the window is gone.
static bool begin_source(upcast_x *x, const upcast_x_layer *layer, struct upcast_x_source *source) {
    const xcb_get_geometry_cookie_t asked = xcb_get_geometry(x->c, layer->top);
    xcb_get_window_attributes_reply_t *attributes =
        xcb_get_window_attributes_reply(x->c, xcb_get_window_attributes(x->c, layer->window), NULL);
    xcb_get_geometry_reply_t *top = xcb_get_geometry_reply(x->c, asked, NULL);
    const xcb_render_pictformat_t format = attributes && top ? format_of(x, attributes->visual) : XCB_NONE;
    const uint16_t borders = top ? 2 * top->border_width : 0;
    const uint16_t top_width = top ? top->width + borders : 0, top_height = top ? top->height + borders : 0;
    free(attributes);
    free(top);
    if (!format) return false;
    *source = (struct upcast_x_source){
        .window = layer->window,
        .top = layer->top,
        .picture = xcb_generate_id(x->c),
        .damage = xcb_generate_id(x->c),
        .has_alpha = has_alpha(x, format),
        .is_new = true,
        .top_width = top_width,
        .top_height = top_height,
    };
    xcb_composite_redirect_window(x->c, layer->top, XCB_COMPOSITE_REDIRECT_AUTOMATIC);
    const uint32_t inferiors = XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS;
    xcb_render_create_picture(
        x->c, source->picture, layer->window, format, XCB_RENDER_CP_SUBWINDOW_MODE, &inferiors);
    xcb_damage_create(x->c, source->damage, layer->window, XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY);
    return true;
}

struct upcast_x_source *upcast_x_source_of(upcast_x *x, const upcast_x_layer *layer) {
    for (uint32_t i = 0; i < x->composition.count; i++) {
        struct upcast_x_source *source = &x->composition.sources[i];
        if (source->window == layer->window && source->top == layer->top) return source;
    }
    return NULL;
}

/// Keeps the sources that the layers need, and makes those that are missing.
static void update_sources(upcast_x *x, const upcast_x_layer *layers, uint32_t count) {
    for (uint32_t i = 0; i < x->composition.count;) {
        struct upcast_x_source *source = &x->composition.sources[i];
        bool is_needed = false;
        for (uint32_t k = 0; k < count; k++)
            is_needed |= layers[k].window == source->window && layers[k].top == source->top;
        if (is_needed) {
            i++;
        } else {
            end_source(x, source);
            *source = x->composition.sources[--x->composition.count];
        }
    }
    for (uint32_t k = 0; k < count && x->composition.count < UPCAST_X_MAX_LAYERS; k++)
        if (!upcast_x_source_of(x, &layers[k])
            && begin_source(x, &layers[k], &x->composition.sources[x->composition.count]))
            x->composition.count++;
}

void upcast_x_forget_source(upcast_x *x, uint32_t window) {
    for (uint32_t i = 0; i < x->composition.count;) {
        struct upcast_x_source *source = &x->composition.sources[i];
        if (source->window != window && source->top != window) {
            i++;
            continue;
        }
        // The server has freed some of these objects with the window. Their requests fail, and nobody reads the errors.
        end_source(x, source);
        *source = x->composition.sources[--x->composition.count];
    }
}

bool upcast_x_is_source_damage(upcast_x *x, uint32_t damage) {
    for (uint32_t i = 0; i < x->composition.count; i++)
        if (x->composition.sources[i].damage == damage) return true;
    return false;
}

/// Shows nothing of a window that is gone: its clip region cannot be made, so that the empty one stays.
static void show(upcast_x *x, const struct upcast_x_source *source, const upcast_x_layer *layer) {
    const xcb_render_picture_t target = x->composition.picture;
    xcb_xfixes_set_picture_clip_region(x->c, target, x->composition.nothing, 0, 0);
    upcast_x_make_visible(x, source, layer);
    xcb_xfixes_set_picture_clip_region(
        x->c, target, x->composition.visible, (int16_t)layer->x, (int16_t)layer->y);
    upcast_x_end_visible(x);
    xcb_render_composite(
        x->c, source->has_alpha ? XCB_RENDER_PICT_OP_OVER : XCB_RENDER_PICT_OP_SRC, source->picture, XCB_NONE, target,
        0, 0, 0, 0, (int16_t)layer->x, (int16_t)layer->y, layer->width, layer->height);
}

uint32_t upcast_x_compose(
    upcast_x *x, const upcast_x_layer *layers, uint32_t count, uint16_t width, uint16_t height, uint64_t now_ms,
    bool *is_whole) {
    make_target(x, width, height);
    update_sources(x, layers, count);
    const bool shows_parts = *is_whole;
    // Subtracts damage before it copies: what is drawn in between is in the picture, and is reported again.
    *is_whole = upcast_x_take_drawn(x, layers, count, now_ms);
    if (!*is_whole && !shows_parts) return XCB_NONE;
    // Otherwise, an earlier picture would show where a window is gone.
    const xcb_render_color_t black = {0, 0, 0, 0xffff};
    const xcb_rectangle_t all = {0, 0, width, height};
    xcb_xfixes_set_picture_clip_region(x->c, x->composition.picture, XCB_NONE, 0, 0);
    xcb_render_fill_rectangles(x->c, XCB_RENDER_PICT_OP_SRC, x->composition.picture, black, 1, &all);
    for (uint32_t k = 0; k < count; k++) {
        const struct upcast_x_source *source = upcast_x_source_of(x, &layers[k]);
        if (source) show(x, source, &layers[k]);
    }
    return x->composition.pixmap;
}

void upcast_x_end_composition(upcast_x *x) {
    update_sources(x, NULL, 0);
    free_target(x);
    if (x->composition.nothing) xcb_xfixes_destroy_region(x->c, x->composition.nothing);
    x->composition.nothing = XCB_NONE;
    free(x->composition.formats);
    x->composition.formats = NULL;
    if (x->c) xcb_flush(x->c);
}

int upcast_x_is_viewable(upcast_x *x, uint32_t window, bool *is_viewable) {
    xcb_get_window_attributes_reply_t *reply =
        xcb_get_window_attributes_reply(x->c, xcb_get_window_attributes(x->c, window), NULL);
    *is_viewable = reply && reply->map_state == XCB_MAP_STATE_VIEWABLE;
    const bool is_there = reply != NULL;
    free(reply);
    if (upcast_x_is_lost(x)) return -1;
    return is_there ? 0 : XCB_WINDOW;
}

int upcast_x_window_place(upcast_x *x, uint32_t window, int32_t *left, int32_t *top, uint16_t *width, uint16_t *height) {
    const xcb_get_geometry_cookie_t geometry = xcb_get_geometry(x->c, window);
    const xcb_translate_coordinates_cookie_t corner =
        xcb_translate_coordinates(x->c, window, x->screen->root, 0, 0);
    xcb_get_geometry_reply_t *g = xcb_get_geometry_reply(x->c, geometry, NULL);
    xcb_translate_coordinates_reply_t *t = xcb_translate_coordinates_reply(x->c, corner, NULL);
    const bool is_there = g && t;
    if (is_there) {
        *left = t->dst_x;
        *top = t->dst_y;
        *width = g->width;
        *height = g->height;
    }
    free(g);
    free(t);
    if (upcast_x_is_lost(x)) return -1;
    return is_there ? 0 : XCB_WINDOW;
}
