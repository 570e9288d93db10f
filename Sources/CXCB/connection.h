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

/// A window that is captured.
struct upcast_x_source {
    xcb_window_t window, top;
    xcb_render_picture_t picture;
    xcb_damage_damage_t damage;
    bool has_alpha;
    /// The window has, or may have, new pixels that are not its own: see `own_pixels.c`.
    bool is_new;
    /// The program has not drawn all visible pixels yet.
    bool is_unfinished;
    /// What the program has not drawn since `since_ms`, including parts outside of the shape; 0 if nothing is missing.
    xcb_xfixes_region_t missing;
    /// When the program was asked to draw the whole window.
    uint64_t since_ms;
    /// The size of the window in the last picture.
    uint16_t width, height;
    /// The size of `top` with its border, as of the last event.
    uint16_t top_width, top_height;
};

struct upcast_x {
    xcb_connection_t *c;
    xcb_screen_t *screen;
    int screen_number;
    bool has_shared_memory, has_fixes, has_damage, has_monitors, has_resources, watches_windows;
    /// The server has X-Resource, and its process IDs are those of this system.
    bool knows_processes;
    uint8_t fixes_event, damage_event, randr_event;
    /// The opcode of XInput 2; 0 without it.
    uint8_t input_opcode;
    uint16_t input_minor;
    xcb_damage_damage_t damage;
    xcb_xfixes_region_t region;
    /// Damage of the root window that the next picture reports, too.
    xcb_xfixes_region_t kept_damage;
    bool has_kept_damage;
    /// Mapped over an area for a moment, so that the area is drawn again; 0 until it is needed.
    xcb_window_t cover;
    /// Makes a compositing manager paint; 0 until it is needed.
    xcb_window_t veil;
    /// Show patterns above all other windows; 0 while they are not needed.
    xcb_window_t marks[UPCAST_X_MARKS];
    /// The pattern; 0 until it is needed.
    xcb_pixmap_t pattern;
    /// Paints over all windows; 0 until it is needed.
    xcb_gcontext_t eraser;
    struct {
        xcb_atom_t wm_state, secure, net_name, utf8, type;
        xcb_atom_t notification, dialog, utility, dropdown, popup, menu, tooltip, combo, dock, desktop;
        xcb_atom_t manager_check, active, current_desktop, showing_desktop, icon_geometry;
    } atoms;
    /// WM_Sn and _NET_WM_CM_Sn, where n is the number of the screen.
    xcb_atom_t manager_selection, compositor_selection;
    /// As of the last `upcast_x_read_manager`.
    upcast_x_manager manager;
    /// The window that had the input focus at the last question, and the overlay window, if it is followed.
    struct {
        xcb_window_t window, overlay;
        /// The sequence number from which on events are of this overlay window. An earlier one may have had its ID.
        uint32_t since;
        bool is_in_overlay;
    } focus;
    /// The state for pictures of chosen windows.
    struct {
        xcb_render_query_pict_formats_reply_t *formats;
        xcb_pixmap_t pixmap;
        xcb_render_picture_t picture;
        uint16_t width, height;
        struct upcast_x_source sources[UPCAST_X_MAX_LAYERS];
        uint32_t count;
        /// Reused for each layer: its visible pixels, and the shape of its frame.
        xcb_xfixes_region_t visible, frame;
        /// The empty region.
        xcb_xfixes_region_t nothing;
    } composition;
    /// An event from after the last picture, kept for later.
    xcb_generic_event_t *kept;
};

/// Frees the error. Returns its code; without an error, 0, or -1 if the connection is lost.
int upcast_x_failure(upcast_x *x, xcb_generic_error_t *error);

/// Asks for the first words of a property.
xcb_get_property_cookie_t upcast_x_ask(upcast_x *x, xcb_window_t window, xcb_atom_t name, uint32_t words);

/// Gives a window an empty input area (XFIXES), so that the pointer ignores it.
void upcast_x_take_no_input(upcast_x *x, xcb_window_t window);

/// Places a window below or above all others, and maps it.
void upcast_x_map_at(upcast_x *x, xcb_window_t window, const upcast_x_rectangle *area, uint32_t stack_mode);

/// The requests for a window's place.
struct upcast_x_place_request {
    xcb_get_window_attributes_cookie_t attributes;
    xcb_get_geometry_cookie_t geometry;
};
struct upcast_x_place_request upcast_x_ask_place(upcast_x *x, xcb_window_t window);
upcast_x_window upcast_x_take_place(upcast_x *x, xcb_window_t window, struct upcast_x_place_request request);

/// Examines windows and all windows inside them, which may be of other programs. Selects their events, and
/// fills `facts`.
///
/// @param facts  all zero.
void upcast_x_look_inside(upcast_x *x, const xcb_window_t *windows, uint32_t count, upcast_x_facts *facts);

/// Finds out whether the server knows the processes of this system. X-Resource only.
void upcast_x_begin_processes(upcast_x *x);

/// Whether the server has an extension.
bool upcast_x_has(upcast_x *x, xcb_extension_t *extension);

/// The first 32-bit word of a property; 0 if it has none.
uint32_t upcast_x_word(const xcb_get_property_reply_t *reply);
/// The X client that created a window: the client bits of the window ID.
uint32_t upcast_x_maker(upcast_x *x, xcb_window_t window);

/// Queries XInput. Returns whether the server has version 2.1.
bool upcast_x_begin_motion(upcast_x *x);
/// Whether an event says that the pointer moves.
bool upcast_x_is_motion(upcast_x *x, const xcb_generic_event_t *event);

/// Drops a destroyed window from the composition: a new window may get its ID.
void upcast_x_forget_source(upcast_x *x, uint32_t window);
/// Says that a window is a desktop.
void upcast_x_call_desktop(upcast_x *x, xcb_window_t window);

/// Whether this is the damage object of a window in the composition.
bool upcast_x_is_source_damage(upcast_x *x, uint32_t damage);

/// A child of the root window is mapped: the server gives it new pixels.
void upcast_x_source_mapped(upcast_x *x, uint32_t top);
/// A child of the root window has moved or has this size, with its border.
void upcast_x_source_configured(upcast_x *x, uint32_t top, int32_t width, int32_t height);
/// Removes drawn pixels from `missing`. False while a window shows pixels that are not its own.
bool upcast_x_take_drawn(upcast_x *x, const upcast_x_layer *layers, uint32_t count, uint64_t now_ms);
/// Makes the region `visible` of a window's own pixels, until `upcast_x_end_visible`.
void upcast_x_make_visible(upcast_x *x, const struct upcast_x_source *source, const upcast_x_layer *layer);
void upcast_x_end_visible(upcast_x *x);
/// Frees the region `missing`.
void upcast_x_forget_missing(upcast_x *x, struct upcast_x_source *source);
/// The source of a layer; NULL for none.
struct upcast_x_source *upcast_x_source_of(upcast_x *x, const upcast_x_layer *layer);

#endif
