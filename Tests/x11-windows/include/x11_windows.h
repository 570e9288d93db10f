/// What the programs with windows for tests have in common.
#ifndef UPCAST_X11_WINDOWS_H
#define UPCAST_X11_WINDOWS_H

#include <stdint.h>
#include <xcb/xcb.h>

xcb_atom_t x11_atom(xcb_connection_t *c, const char *name);

/// - Parameter is_menu: 1 for a window that no window manager manages (override-redirect), otherwise 0.
xcb_window_t x11_window(
    xcb_connection_t *c, xcb_window_t parent, int x, int y, int width, int height, uint32_t colour, uint32_t is_menu);

/// Sets WM_CLASS to the instance "x" and this class.
void x11_set_class(xcb_connection_t *c, xcb_window_t window, const char *name);

/// Sets a property to one value of 32 bits.
void x11_set_value(xcb_connection_t *c, xcb_window_t window, xcb_atom_t name, xcb_atom_t type, uint32_t value);

/// Waits until the server has done all that was asked for.
void x11_wait_for_server(xcb_connection_t *c);

#endif
