#include "connection.h"

#include <stdlib.h>
#include <string.h>

static upcast_x_rectangle rectangle(xcb_rectangle_t r) {
    return (upcast_x_rectangle){.x = r.x, .y = r.y, .width = r.width, .height = r.height};
}

static void take_damage(upcast_x *x, xcb_xfixes_fetch_region_cookie_t cookie, upcast_x_picture *picture) {
    xcb_xfixes_fetch_region_reply_t *region = xcb_xfixes_fetch_region_reply(x->c, cookie, NULL);
    if (!region) return;
    const xcb_rectangle_t *rectangles = xcb_xfixes_fetch_region_rectangles(region);
    picture->damage_count = (uint32_t)xcb_xfixes_fetch_region_rectangles_length(region);
    picture->damage_bounds = rectangle(region->extents);
    const uint32_t capacity = sizeof picture->damage / sizeof picture->damage[0];
    for (uint32_t i = 0; i < picture->damage_count && i < capacity; i++)
        picture->damage[i] = rectangle(rectangles[i]);
    free(region);
}

static void take_pointer(upcast_x *x, xcb_query_pointer_cookie_t cookie, upcast_x_picture *picture) {
    xcb_query_pointer_reply_t *pointer = xcb_query_pointer_reply(x->c, cookie, NULL);
    if (!pointer) return;
    picture->is_pointer_here = pointer->same_screen;
    picture->pointer_x = pointer->root_x;
    picture->pointer_y = pointer->root_y;
    free(pointer);
}

static int take_image(
    upcast_x *x, xcb_get_image_cookie_t cookie, void *target, size_t byte_count, xcb_generic_error_t **error) {
    xcb_get_image_reply_t *image = xcb_get_image_reply(x->c, cookie, error);
    if (!image) return upcast_x_failure(x, *error);
    size_t length = (size_t)xcb_get_image_data_length(image);
    if (length >= byte_count) memcpy(target, xcb_get_image_data(image), byte_count);
    free(image);
    // The server has sent fewer bytes than were asked for.
    return length >= byte_count ? 0 : XCB_MATCH;
}

int upcast_x_grab(
    upcast_x *x, uint32_t pixmap, const upcast_x_rectangle *area, uint32_t segment, uint32_t offset, void *target,
    size_t byte_count, upcast_x_picture *picture) {
    memset(picture, 0, sizeof *picture);
    const xcb_drawable_t drawable = pixmap ? pixmap : x->screen->root;
    xcb_xfixes_fetch_region_cookie_t region = {0};
    // For a composed picture, `upcast_x_take_drawn` has subtracted the damage.
    const bool has_damage = x->has_damage && !pixmap;
    // Subtracts damage before it copies: what is drawn in between is in the picture, and is reported again.
    if (has_damage) {
        xcb_damage_subtract(x->c, x->damage, XCB_NONE, x->region);
        if (x->has_kept_damage) xcb_xfixes_union_region(x->c, x->region, x->kept_damage, x->region);
        x->has_kept_damage = false;
        region = xcb_xfixes_fetch_region(x->c, x->region);
    }
    xcb_query_pointer_cookie_t pointer = xcb_query_pointer(x->c, x->screen->root);
    xcb_shm_get_image_cookie_t shared = {0};
    xcb_get_image_cookie_t copied = {0};
    const uint8_t format = XCB_IMAGE_FORMAT_Z_PIXMAP;
    if (segment) {
        shared = xcb_shm_get_image(
            x->c, drawable, area->x, area->y, area->width, area->height, ~0u, format, segment, offset);
        picture->sequence = shared.sequence;
    } else {
        copied = xcb_get_image(x->c, format, drawable, area->x, area->y, area->width, area->height, ~0u);
        picture->sequence = copied.sequence;
    }
    if (has_damage) take_damage(x, region, picture);
    take_pointer(x, pointer, picture);
    xcb_generic_error_t *error = NULL;
    if (!segment) return take_image(x, copied, target, byte_count, &error);
    xcb_shm_get_image_reply_t *reply = xcb_shm_get_image_reply(x->c, shared, &error);
    if (!reply) return upcast_x_failure(x, error);
    free(reply);
    return 0;
}

static void take_name(upcast_x *x, xcb_get_atom_name_cookie_t cookie, char *name, size_t capacity) {
    xcb_get_atom_name_reply_t *reply = xcb_get_atom_name_reply(x->c, cookie, NULL);
    size_t length = reply ? (size_t)xcb_get_atom_name_name_length(reply) : 0;
    if (length >= capacity) length = capacity - 1;
    if (length) memcpy(name, xcb_get_atom_name_name(reply), length);
    name[length] = 0;
    free(reply);
}

int upcast_x_monitors(upcast_x *x, upcast_x_monitor *monitors, size_t capacity) {
    if (!x->has_monitors) return 0;
    xcb_randr_get_monitors_reply_t *reply =
        xcb_randr_get_monitors_reply(x->c, xcb_randr_get_monitors(x->c, x->screen->root, 1), NULL);
    if (!reply) return upcast_x_is_lost(x) ? -1 : 0;
    size_t count = 0;
    for (xcb_randr_monitor_info_iterator_t m = xcb_randr_get_monitors_monitors_iterator(reply);
         m.rem && count < capacity; xcb_randr_monitor_info_next(&m)) {
        upcast_x_monitor *monitor = &monitors[count++];
        monitor->area = (upcast_x_rectangle){m.data->x, m.data->y, m.data->width, m.data->height};
        monitor->is_primary = m.data->primary;
        take_name(x, xcb_get_atom_name(x->c, m.data->name), monitor->name, sizeof monitor->name);
    }
    free(reply);
    return (int)count;
}
