#define _GNU_SOURCE
#include "connection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

upcast_x *upcast_x_open(const char *display, int *error) {
    int number = 0;
    xcb_connection_t *c = xcb_connect(display, &number);
    *error = xcb_connection_has_error(c);
    if (*error) {
        xcb_disconnect(c);
        return NULL;
    }
    xcb_screen_iterator_t screens = xcb_setup_roots_iterator(xcb_get_setup(c));
    for (int skipped = 0; screens.rem && skipped < number; skipped++) xcb_screen_next(&screens);
    upcast_x *x = screens.rem ? calloc(1, sizeof *x) : NULL;
    if (!x) {
        *error = UPCAST_X_NO_SCREEN;
        xcb_disconnect(c);
        return NULL;
    }
    x->c = c;
    x->screen = screens.data;
    x->screen_number = number;
    return x;
}

void upcast_x_close(upcast_x *x) {
    free(x->composition.formats);
    free(x->kept);
    xcb_disconnect(x->c);
    free(x);
}

int upcast_x_descriptor(upcast_x *x) { return xcb_get_file_descriptor(x->c); }

bool upcast_x_is_lost(upcast_x *x) { return xcb_connection_has_error(x->c) != 0; }

int upcast_x_failure(upcast_x *x, xcb_generic_error_t *error) {
    int code = error ? error->error_code : upcast_x_is_lost(x) ? -1 : 0;
    free(error);
    return code;
}

static const xcb_visualtype_t *root_visual(const xcb_screen_t *screen) {
    for (xcb_depth_iterator_t d = xcb_screen_allowed_depths_iterator(screen); d.rem; xcb_depth_next(&d))
        for (xcb_visualtype_iterator_t v = xcb_depth_visuals_iterator(d.data); v.rem; xcb_visualtype_next(&v))
            if (v.data->visual_id == screen->root_visual) return v.data;
    return NULL;
}

bool upcast_x_has(upcast_x *x, xcb_extension_t *extension) {
    const xcb_query_extension_reply_t *reply = xcb_get_extension_data(x->c, extension);
    return reply && reply->present;
}

static bool has_named(upcast_x *x, const char *name) {
    xcb_query_extension_reply_t *reply =
        xcb_query_extension_reply(x->c, xcb_query_extension(x->c, (uint16_t)strlen(name), name), NULL);
    bool present = reply && reply->present;
    free(reply);
    return present;
}

/// Whether the server, or what relays to it, has a Unix socket. Over TCP (ssh -X), libxcb waits without end for an
/// answer with a descriptor, and closes the connection rather than send one.
static bool takes_descriptors(upcast_x *x) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    return getpeername(upcast_x_descriptor(x), (struct sockaddr *)&peer, &size) == 0 && peer.ss_family == AF_UNIX;
}

/// Attaches a page to find out. A server refuses clients that are not local, and a descriptor that a relay has lost.
static bool shares_memory(upcast_x *x) {
    if (!takes_descriptors(x)) return false;
    if (!upcast_x_has(x, &xcb_shm_id)) return false;
    xcb_shm_query_version_reply_t *v = xcb_shm_query_version_reply(x->c, xcb_shm_query_version(x->c), NULL);
    bool is_new = v && (v->major_version > 1 || v->minor_version >= 2);
    free(v);
    if (!is_new) return false;
    int page = memfd_create("upcast-page", MFD_CLOEXEC);
    if (page < 0) return false;
    if (ftruncate(page, sysconf(_SC_PAGESIZE)) != 0) {
        close(page);
        return false;
    }
    // libxcb closes the descriptor.
    uint32_t segment;
    if (upcast_x_attach(x, page, &segment) != 0) return false;
    upcast_x_detach(x, segment);
    return true;
}

static void begin_fixes(upcast_x *x) {
    if (!upcast_x_has(x, &xcb_xfixes_id)) return;
    xcb_xfixes_query_version_reply_t *v =
        xcb_xfixes_query_version_reply(x->c, xcb_xfixes_query_version(x->c, 5, 0), NULL);
    x->has_fixes = v && v->major_version >= 2;
    free(v);
    if (!x->has_fixes) return;
    x->fixes_event = xcb_get_extension_data(x->c, &xcb_xfixes_id)->first_event;
    xcb_xfixes_select_cursor_input(x->c, x->screen->root, XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR);
}

/// DAMAGE needs XFIXES, whose regions it fills.
static void begin_damage(upcast_x *x) {
    if (!x->has_fixes || !upcast_x_has(x, &xcb_damage_id)) return;
    xcb_damage_query_version_reply_t *v =
        xcb_damage_query_version_reply(x->c, xcb_damage_query_version(x->c, 1, 1), NULL);
    x->has_damage = v != NULL;
    free(v);
    if (!x->has_damage) return;
    x->damage_event = xcb_get_extension_data(x->c, &xcb_damage_id)->first_event;
    x->region = xcb_generate_id(x->c);
    xcb_xfixes_create_region(x->c, x->region, 0, NULL);
    x->kept_damage = xcb_generate_id(x->c);
    xcb_xfixes_create_region(x->c, x->kept_damage, 0, NULL);
    x->damage = xcb_generate_id(x->c);
    // One event for the first change, then silence until the damage is subtracted.
    xcb_damage_create(x->c, x->damage, x->screen->root, XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY);
}

static void begin_monitors(upcast_x *x) {
    if (!upcast_x_has(x, &xcb_randr_id)) return;
    xcb_randr_query_version_reply_t *v =
        xcb_randr_query_version_reply(x->c, xcb_randr_query_version(x->c, 1, 5), NULL);
    x->has_monitors = v && (v->major_version > 1 || v->minor_version >= 5);
    free(v);
    if (!x->has_monitors) return;
    x->randr_event = xcb_get_extension_data(x->c, &xcb_randr_id)->first_event;
    xcb_randr_select_input(
        x->c, x->screen->root,
        XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE | XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE);
}

int upcast_x_begin(upcast_x *x, upcast_x_screen *screen) {
    memset(screen, 0, sizeof *screen);
    const xcb_setup_t *setup = xcb_get_setup(x->c);
    const xcb_visualtype_t *visual = root_visual(x->screen);
    screen->root = x->screen->root;
    screen->depth = x->screen->root_depth;
    screen->is_lsb_first = setup->image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST;
    for (xcb_format_iterator_t f = xcb_setup_pixmap_formats_iterator(setup); f.rem; xcb_format_next(&f))
        if (f.data->depth == screen->depth) screen->bits_per_pixel = f.data->bits_per_pixel;
    if (visual) {
        screen->is_true_color = visual->_class == XCB_VISUAL_CLASS_TRUE_COLOR;
        screen->red_mask = visual->red_mask;
        screen->green_mask = visual->green_mask;
        screen->blue_mask = visual->blue_mask;
    }
    uint32_t events = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
    xcb_change_window_attributes(x->c, x->screen->root, XCB_CW_EVENT_MASK, &events);
    begin_fixes(x);
    begin_damage(x);
    begin_monitors(x);
    screen->reports_motion = upcast_x_begin_motion(x);
    screen->has_shared_memory = x->has_shared_memory = shares_memory(x);
    screen->has_fixes = x->has_fixes;
    screen->has_damage = x->has_damage;
    screen->has_monitors = x->has_monitors;
    screen->is_xwayland = has_named(x, "XWAYLAND");
    int status = upcast_x_root_size(x, &screen->width, &screen->height);
    return upcast_x_is_lost(x) ? -1 : status;
}

int upcast_x_root_size(upcast_x *x, uint16_t *width, uint16_t *height) {
    xcb_generic_error_t *error = NULL;
    xcb_get_geometry_reply_t *reply =
        xcb_get_geometry_reply(x->c, xcb_get_geometry(x->c, x->screen->root), &error);
    if (!reply) return upcast_x_failure(x, error);
    *width = reply->width;
    *height = reply->height;
    free(reply);
    return 0;
}

int upcast_x_attach(upcast_x *x, int descriptor, uint32_t *segment) {
    *segment = xcb_generate_id(x->c);
    return upcast_x_failure(
        x, xcb_request_check(x->c, xcb_shm_attach_fd_checked(x->c, *segment, descriptor, 0)));
}

void upcast_x_detach(upcast_x *x, uint32_t segment) {
    xcb_shm_detach(x->c, segment);
    xcb_flush(x->c);
}
