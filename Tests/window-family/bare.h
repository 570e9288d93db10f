/// Windows without a background.
#ifndef UPCAST_BARE_H
#define UPCAST_BARE_H

#include <xcb/xcb.h>

/// - Parameter part: all, half, inner or shape.
void draw_late(xcb_connection_t *c, xcb_screen_t *screen, const char *part);

/// - Parameter how: map, raise, resize or hide.
void raise_bare(xcb_connection_t *c, xcb_screen_t *screen, const char *how);

#endif
