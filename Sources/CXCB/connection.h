#ifndef UPCAST_XCB_CONNECTION_H
#define UPCAST_XCB_CONNECTION_H

#include "CXCB.h"

#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/render.h>
#include <xcb/res.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

/// A window of which pictures are made.
struct upcast_x_source {
    xcb_window_t window, top;
    xcb_render_picture_t picture;
    xcb_damage_damage_t damage;
    bool has_alpha;
    /// The window has, or may have, pixels that are not its own: see `own_pixels.c`.
    bool is_new;
    /// Its program has to draw it first.
    bool is_unfinished;
    /// What its program has not drawn since then, also outside of its shape; 0 if nothing is missing.
    xcb_xfixes_region_t missing;
    /// When that began.
    uint64_t since_ms;
    /// Of the window in the last picture.
    uint16_t width, height;
    /// With its border, as of the events.
    uint16_t top_width, top_height;
};

struct upcast_x {
    xcb_connection_t *c;
    xcb_screen_t *screen;
    int screen_number;
    bool has_shared_memory, has_fixes, has_damage, has_monitors, has_resources, watches_windows;
    uint8_t fixes_event, damage_event, randr_event;
    /// XInput 2; 0 without.
    uint8_t input_opcode;
    uint16_t input_minor;
    xcb_damage_damage_t damage;
    xcb_xfixes_region_t region;
    /// Covers an area for a moment, so that it is drawn again; 0 until it is needed.
    xcb_window_t cover;
    /// Makes a compositing manager paint; 0 until it is needed.
    xcb_window_t veil;
    /// Paints over all windows; 0 until it is needed.
    xcb_gcontext_t eraser;
    struct {
        xcb_atom_t wm_state, secure, net_name, utf8, type;
        xcb_atom_t notification, dialog, utility, dropdown, popup, menu, tooltip, combo, dock, desktop;
        xcb_atom_t manager_check, active, current_desktop, showing_desktop, icon_geometry;
    } atoms;
    /// WM_S0 for the first screen, and the same of a compositing manager.
    xcb_atom_t manager_selection, compositor_selection;
    /// As of the last `upcast_x_read_manager`.
    upcast_x_manager manager;
    /// Pictures of chosen windows are put together here.
    struct {
        xcb_render_query_pict_formats_reply_t *formats;
        xcb_pixmap_t pixmap;
        xcb_render_picture_t picture;
        uint16_t width, height;
        struct upcast_x_source sources[UPCAST_X_MAX_LAYERS];
        uint32_t count;
        /// Used again for each layer: what of it is shown, and its frame.
        xcb_xfixes_region_t visible, frame;
        /// Has no pixels.
        xcb_xfixes_region_t nothing;
    } composition;
    /// An event that came after the last picture.
    xcb_generic_event_t *kept;
};

/// Frees the error. 0 for none, -1 where the connection is lost.
int upcast_x_failure(upcast_x *x, xcb_generic_error_t *error);

/// Asks for the first words of a property.
xcb_get_property_cookie_t upcast_x_ask(upcast_x *x, xcb_window_t window, xcb_atom_t name, uint32_t words);

/// Gives a window an empty input area (XFIXES): the pointer does not notice it.
void upcast_x_take_no_input(upcast_x *x, xcb_window_t window);

/// Places a window below or above all others, and maps it.
void upcast_x_map_at(upcast_x *x, xcb_window_t window, const upcast_x_rectangle *area, uint32_t stack_mode);

/// What is asked of a window to find its place.
struct upcast_x_place_request {
    xcb_get_window_attributes_cookie_t attributes;
    xcb_get_geometry_cookie_t geometry;
};
struct upcast_x_place_request upcast_x_ask_place(upcast_x *x, xcb_window_t window);
upcast_x_window upcast_x_take_place(upcast_x *x, xcb_window_t window, struct upcast_x_place_request request);

/// Looks at windows and all in them, which may be of other programs. Watches them, and notes in `facts` what there is.
///
/// @param facts  all zero.
void upcast_x_look_inside(upcast_x *x, const xcb_window_t *windows, uint32_t count, upcast_x_facts *facts);

/// The first word of a property; 0 if it is none.
uint32_t upcast_x_word(const xcb_get_property_reply_t *reply);
/// The X client that made a window, as all of its windows' numbers tell.
uint32_t upcast_x_maker(upcast_x *x, xcb_window_t window);

/// Whether the server has XInput 2.1.
bool upcast_x_begin_motion(upcast_x *x);
/// Whether an event says that the pointer moves.
bool upcast_x_is_motion(upcast_x *x, const xcb_generic_event_t *event);

/// A window was destroyed: another one may get its number.
void upcast_x_forget_source(upcast_x *x, uint32_t window);
/// Whether it is that of a window of the composition.
bool upcast_x_is_source_damage(upcast_x *x, uint32_t damage);

/// A child of the root window is mapped: the server gives it new pixels.
void upcast_x_source_mapped(upcast_x *x, uint32_t top);
/// A child of the root window has moved or has this size, with its border.
void upcast_x_source_configured(upcast_x *x, uint32_t top, int32_t width, int32_t height);
/// Subtracts what was drawn. False if a window's pixels are not all its own.
bool upcast_x_take_drawn(upcast_x *x, const upcast_x_layer *layers, uint32_t count, uint64_t now_ms);
/// Makes a region of the pixels of a window that are its own, and destroys it.
void upcast_x_make_visible(upcast_x *x, const struct upcast_x_source *source, const upcast_x_layer *layer);
void upcast_x_end_visible(upcast_x *x);
/// Frees what that has taken.
void upcast_x_forget_missing(upcast_x *x, struct upcast_x_source *source);
/// The source of a layer; NULL for none.
struct upcast_x_source *upcast_x_source_of(upcast_x *x, const upcast_x_layer *layer);

#endif
