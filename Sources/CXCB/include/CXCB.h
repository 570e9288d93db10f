/// The X server as upcast-screen needs it: libxcb's requests, replies and events as plain values.
///
/// A connection is for one thread at a time. Functions that return a status return 0, an X error code (Success to
/// LASTEvent), or -1 where the connection is lost.
#ifndef UPCAST_XCB_H
#define UPCAST_XCB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_x upcast_x;

typedef struct {
    int16_t x, y;
    uint16_t width, height;
} upcast_x_rectangle;

/// The root window's pictures, and what the server offers.
typedef struct {
    uint32_t root;
    uint16_t width, height;
    uint8_t depth, bits_per_pixel;
    uint32_t red_mask, green_mask, blue_mask;
    bool is_true_color, is_lsb_first;
    /// MIT-SHM 1.2 for this client, which the server has to share memory with.
    bool has_shared_memory;
    bool has_damage, has_fixes, has_monitors;
    /// The server shows an X client's windows in a Wayland compositor: the root window has no picture.
    bool is_xwayland;
} upcast_x_screen;

typedef struct {
    char name[64];
    upcast_x_rectangle area;
    bool is_primary;
} upcast_x_monitor;

/// A picture of a part of the root window, with what was true at that very moment.
typedef struct {
    /// Of the request for the picture: events with a lower one are in it.
    uint32_t sequence;
    /// Where the root window has changed since the last picture. `damage_count` may be larger than the array, of which
    /// `damage_bounds` is the box.
    upcast_x_rectangle damage[32];
    uint32_t damage_count;
    upcast_x_rectangle damage_bounds;
    bool is_pointer_here;
    int16_t pointer_x, pointer_y;
} upcast_x_picture;

enum upcast_x_event_kind {
    UPCAST_X_OTHER,
    UPCAST_X_DAMAGED,
    /// The root window has another size, or monitors came, went or moved.
    UPCAST_X_SCREEN_CHANGED,
    /// The pointer has another shape.
    UPCAST_X_CURSOR_CHANGED,
};

typedef struct {
    enum upcast_x_event_kind kind;
    uint32_t sequence;
    uint16_t width, height;
} upcast_x_event;

/// Connects to a display (NULL: $DISPLAY). Returns NULL and libxcb's error, or UPCAST_X_NO_SCREEN.
upcast_x *upcast_x_open(const char *display, int *error);
void upcast_x_close(upcast_x *x);
enum { UPCAST_X_NO_SCREEN = 100 };

/// Asks the server what it offers, and for events of the root window. Once, after opening.
int upcast_x_begin(upcast_x *x, upcast_x_screen *screen);

int upcast_x_descriptor(upcast_x *x);
bool upcast_x_is_lost(upcast_x *x);

/// Lets the server map memory for writing. Takes the descriptor. The server has mapped it when this returns 0.
int upcast_x_attach(upcast_x *x, int descriptor, uint32_t *segment);
void upcast_x_detach(upcast_x *x, uint32_t segment);

/// Gets a picture of a part of the root window in one round trip, by default into shared memory.
///
/// @param segment  of `upcast_x_attach`; 0 to copy the picture over the connection to `target`.
/// @param offset   in the segment.
/// @param target   `byte_count` bytes, which must be exactly the picture's.
int upcast_x_grab(
    upcast_x *x, const upcast_x_rectangle *area, uint32_t segment, uint32_t offset, void *target, size_t byte_count,
    upcast_x_picture *picture);

/// The next event that has arrived, with a sequence number below `before`. False without one.
bool upcast_x_next_event(upcast_x *x, uint32_t before, upcast_x_event *event);
/// The next event that has arrived; reads what the server has sent. False without one.
bool upcast_x_read_event(upcast_x *x, upcast_x_event *event);

/// The pointer's shape: premultiplied ARGB, at most `capacity` pixels. Returns the number of its pixels; 0 without a
/// shape, -1 where the connection is lost.
int upcast_x_cursor(
    upcast_x *x, uint32_t *pixels, size_t capacity, uint16_t *width, uint16_t *height, uint16_t *hot_x,
    uint16_t *hot_y);

/// Where the pointer is.
int upcast_x_pointer(upcast_x *x, bool *is_here, int16_t *pointer_x, int16_t *pointer_y);

/// The monitors, at most `capacity`. Returns their number; -1 where the connection is lost.
int upcast_x_monitors(upcast_x *x, upcast_x_monitor *monitors, size_t capacity);

/// The root window's size now.
int upcast_x_root_size(upcast_x *x, uint16_t *width, uint16_t *height);

#endif
