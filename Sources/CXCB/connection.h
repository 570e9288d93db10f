#ifndef UPCAST_XCB_CONNECTION_H
#define UPCAST_XCB_CONNECTION_H

#include "CXCB.h"

#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

struct upcast_x {
    xcb_connection_t *c;
    xcb_screen_t *screen;
    bool has_shared_memory, has_fixes, has_damage, has_monitors;
    uint8_t fixes_event, damage_event, randr_event;
    xcb_damage_damage_t damage;
    xcb_xfixes_region_t region;
    /// An event that came after the last picture.
    xcb_generic_event_t *kept;
};

/// Frees the error. 0 for none, -1 where the connection is lost.
int upcast_x_failure(upcast_x *x, xcb_generic_error_t *error);

#endif
