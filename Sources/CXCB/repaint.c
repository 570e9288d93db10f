// Makes a compositing manager paint a part of the screen, although nothing there has changed.
#include "connection.h"

/// A visual with an alpha channel; 0 for none.
static xcb_visualid_t transparent_visual(const xcb_screen_t *screen) {
    for (xcb_depth_iterator_t d = xcb_screen_allowed_depths_iterator(screen); d.rem; xcb_depth_next(&d)) {
        if (d.data->depth != 32) continue;
        for (xcb_visualtype_iterator_t v = xcb_depth_visuals_iterator(d.data); v.rem; xcb_visualtype_next(&v))
            if (v.data->_class == XCB_VISUAL_CLASS_TRUE_COLOR) return v.data->visual_id;
    }
    return 0;
}

void upcast_x_call_desktop(upcast_x *x, xcb_window_t window) {
    xcb_change_property(
        x->c, XCB_PROP_MODE_REPLACE, window, x->atoms.type, XCB_ATOM_ATOM, 32, 1, &x->atoms.desktop);
}

/// The window is invisible: all its pixels are transparent. It takes no clicks, and managers give a desktop no shadow.
static bool make_veil(upcast_x *x) {
    const xcb_visualid_t visual = transparent_visual(x->screen);
    if (!visual || !x->has_fixes) return false;
    const xcb_colormap_t colours = xcb_generate_id(x->c);
    xcb_create_colormap(x->c, XCB_COLORMAP_ALLOC_NONE, colours, x->screen->root, visual);
    // Background, border, override-redirect, colormap.
    const uint32_t values[] = {0, 0, 1, colours};
    x->veil = xcb_generate_id(x->c);
    xcb_create_window(
        x->c, 32, x->veil, x->screen->root, 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, visual,
        XCB_CW_BACK_PIXEL | XCB_CW_BORDER_PIXEL | XCB_CW_OVERRIDE_REDIRECT | XCB_CW_COLORMAP, values);
    upcast_x_call_desktop(x, x->veil);
    upcast_x_take_no_input(x, x->veil);
    return true;
}

void upcast_x_ask_repaint(upcast_x *x, const upcast_x_rectangle *area) {
    if (!x->veil && !make_veil(x)) return;
    upcast_x_map_at(x, x->veil, area, XCB_STACK_MODE_BELOW);
    xcb_flush(x->c);
}

static void redraw(upcast_x *x, const upcast_x_drawn *drawn) {
    const xcb_gcontext_t pen = xcb_generate_id(x->c);
    const uint32_t values[] = {XCB_SUBWINDOW_MODE_INCLUDE_INFERIORS, 0};
    xcb_create_gc(x->c, pen, drawn->window, XCB_GC_SUBWINDOW_MODE | XCB_GC_GRAPHICS_EXPOSURES, values);
    xcb_copy_area(x->c, drawn->window, drawn->window, pen, 0, 0, 0, 0, drawn->width, drawn->height);
    xcb_free_gc(x->c, pen);
}

void upcast_x_redraw(upcast_x *x, const upcast_x_drawn *drawn, uint32_t count) {
    if (!x->has_damage) return;
    // What is drawn on the screen itself, in a window that is not redirected, must not count as painted by the manager.
    xcb_grab_server(x->c);
    xcb_damage_subtract(x->c, x->damage, XCB_NONE, x->region);
    if (x->has_kept_damage)
        xcb_xfixes_union_region(x->c, x->kept_damage, x->region, x->kept_damage);
    else
        xcb_xfixes_copy_region(x->c, x->region, x->kept_damage);
    x->has_kept_damage = true;
    for (uint32_t i = 0; i < count; i++) redraw(x, &drawn[i]);
    xcb_damage_subtract(x->c, x->damage, XCB_NONE, XCB_NONE);
    xcb_ungrab_server(x->c);
    xcb_flush(x->c);
}

void upcast_x_end_repaint(upcast_x *x) {
    if (!x->veil) return;
    xcb_unmap_window(x->c, x->veil);
    xcb_flush(x->c);
}
