#include "x11_windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

xcb_atom_t x11_atom(xcb_connection_t *c, const char *name) {
    xcb_intern_atom_reply_t *reply =
        xcb_intern_atom_reply(c, xcb_intern_atom(c, 0, (uint16_t)strlen(name), name), NULL);
    const xcb_atom_t result = reply ? reply->atom : XCB_NONE;
    free(reply);
    return result;
}

xcb_window_t x11_window(
    xcb_connection_t *c, xcb_window_t parent, int x, int y, int width, int height, uint32_t colour, uint32_t is_menu) {
    const uint32_t values[] = {colour, is_menu};
    const xcb_window_t window = xcb_generate_id(c);
    xcb_create_window(
        c, XCB_COPY_FROM_PARENT, window, parent, (int16_t)x, (int16_t)y, (uint16_t)width, (uint16_t)height, 0,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
    return window;
}

void x11_set_class(xcb_connection_t *c, xcb_window_t window, const char *name) {
    char both[128];
    const int length = snprintf(both, sizeof both, "x%c%s", 0, name) + 1;
    xcb_change_property(
        c, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, 8, (uint32_t)length, both);
}

void x11_set_value(xcb_connection_t *c, xcb_window_t window, xcb_atom_t name, xcb_atom_t type, uint32_t value) {
    xcb_change_property(c, XCB_PROP_MODE_REPLACE, window, name, type, 32, 1, &value);
}

void x11_wait_for_server(xcb_connection_t *c) { free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL)); }
