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
    /// XInput 2.1: `upcast_x_watch_motion` has an effect.
    bool reports_motion;
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

/// A child of the root window.
typedef struct {
    uint32_t window;
    /// From the root window's corner, with the border.
    int32_t x, y, width, height;
    bool is_viewable, is_override_redirect;
    /// It takes input and shows nothing.
    bool is_input_only;
    /// False if nothing else is known of it.
    bool is_there;
} upcast_x_window;

/// The window types that matter (_NET_WM_WINDOW_TYPE), as bits.
enum upcast_x_window_type {
    UPCAST_X_NOTIFICATION = 1,
    UPCAST_X_DIALOG = 2,
    UPCAST_X_MENU = 4,
    UPCAST_X_DOCK = 8,
    UPCAST_X_DESKTOP = 16,
};

/// What a window is called, and who made it.
typedef struct {
    uint32_t window;
    /// False if nothing else is known of it.
    bool is_there;
    /// Both parts of WM_CLASS, and the title, in UTF-8; each ends at the first 0. The title is _NET_WM_NAME if the window
    /// has one; `old_title` is WM_NAME beside it, empty where it is the only one or cannot be read.
    char instance[128], class_name[128], title[1024], old_title[1024];
    /// A part of WM_CLASS is longer; a title is, or is the only one and cannot be read.
    bool is_class_cut, is_title_cut;
    /// The process, as the server knows it (XRes); 0 if it does not.
    uint32_t process;
    /// The X client, whose windows all have the same one.
    uint32_t maker;
} upcast_x_names;

/// The process of an X client.
typedef struct {
    /// False if it has ended.
    bool is_there;
    /// As in `upcast_x_names`.
    uint32_t process;
} upcast_x_client;

/// So many windows are looked at in a child of the root window, itself included, and so deep.
enum { UPCAST_X_MAX_INSIDE = 1024, UPCAST_X_MAX_LEVELS = 32 };

/// What is known of a child of the root window: a window without a manager, or the frame that a manager has put around
/// one. The texts and numbers are its own and those of the client window inside.
typedef struct {
    /// The window itself.
    upcast_x_window own;
    /// The first window in it that a manager manages, with WM_STATE; 0 for none.
    uint32_t managed;
    /// The client window; the window itself without a frame.
    uint32_t client;
    /// The client is managed, and inside: this is its frame, if there is a window manager.
    bool has_frame;
    /// The X client that made this window.
    uint32_t maker;
    upcast_x_names client_names;
    /// Windows in it that are called something, or want to be secure, those of outer levels first. They may be of other
    /// programs.
    uint32_t named[UPCAST_X_MAX_INSIDE];
    uint32_t named_count;
    /// All windows that were looked at, itself included: they have events from now on.
    uint32_t inside[UPCAST_X_MAX_INSIDE];
    uint32_t inside_count;
    /// There are more windows in it, or deeper ones: nobody knows what they are.
    bool has_unseen;
    /// The largest value of _UPCAST_SECURE.
    uint32_t secure;
    /// Of WM_TRANSIENT_FOR; 0 for none.
    uint32_t transient_for;
    /// It is transient for all windows of its group.
    bool is_transient_for_group;
    /// The window group of WM_HINTS; 0 for none.
    uint32_t group;
    /// The window that its program draws as its icon (WM_HINTS); 0 for none.
    uint32_t icon;
    /// Where taskbars show it (_NET_WM_ICON_GEOMETRY), in the root window; empty for nowhere.
    upcast_x_rectangle icon_place;
    /// It may be the frame of a client that is gone, or has not come yet.
    bool is_empty_frame;
    uint32_t types;
} upcast_x_facts;

/// The window manager.
typedef struct {
    /// Somebody decides where windows are (SubstructureRedirect).
    bool is_there;
    /// The X client that makes its windows; 0 if it does not say so.
    uint32_t maker;
    /// The window of the compositing manager, which paints the screen some time after windows have changed; 0 for none.
    uint32_t compositor;
    /// It shows the desktop instead of the windows (_NET_SHOWING_DESKTOP).
    bool shows_desktop;
} upcast_x_manager;

enum upcast_x_event_kind {
    UPCAST_X_OTHER,
    UPCAST_X_DAMAGED,
    /// The root window has another size, or monitors came, went or moved.
    UPCAST_X_SCREEN_CHANGED,
    /// The pointer has another shape.
    UPCAST_X_CURSOR_CHANGED,
    /// A device moves the pointer, with `upcast_x_watch_motion`.
    UPCAST_X_POINTER_MOVED,
    /// A child of the root window was made or came from elsewhere, with its geometry; it is not viewable yet.
    UPCAST_X_WINDOW_CAME,
    /// It was destroyed, or went into another window.
    UPCAST_X_WINDOW_WENT,
    UPCAST_X_WINDOW_MAPPED,
    UPCAST_X_WINDOW_UNMAPPED,
    UPCAST_X_WINDOW_MOVED,
    /// A window inside it has moved, or has another size.
    UPCAST_X_WINDOW_MOVED_INSIDE,
    /// What is known of it, or of a window inside it, has changed.
    UPCAST_X_WINDOW_CHANGED,
    /// It, or a window inside it, has another title.
    UPCAST_X_WINDOW_RENAMED,
    /// A window was made inside it or came into it: `is_stranger` if another X client made that.
    UPCAST_X_WINDOW_CAME_INSIDE,
    /// A window inside it has gone, or is managed otherwise.
    UPCAST_X_WINDOW_REARRANGED,
    /// It, or a window inside it, has another place in the taskbar.
    UPCAST_X_WINDOW_ICON_MOVED,
    /// It is above or below others than before.
    UPCAST_X_WINDOW_RESTACKED,
    /// The window manager says that another window is active.
    UPCAST_X_ACTIVE_CHANGED,
    /// A compositing manager has come or gone: `window` is its own, or 0.
    UPCAST_X_COMPOSITOR_CHANGED,
    /// The window manager shows another virtual desktop, or the desktop instead of windows, or windows again.
    UPCAST_X_DESKTOP_CHANGED,
};

typedef struct {
    enum upcast_x_event_kind kind;
    uint32_t sequence;
    /// Of the root window, of the window with its border, or of what was drawn.
    int32_t x, y, width, height;
    uint32_t window;
    /// A window that was destroyed, this one or one in it; 0 for none.
    uint32_t destroyed;
    /// With UPCAST_X_WINDOW_MOVED and RESTACKED: the one directly below it, 0 if it is the lowest.
    uint32_t above;
    /// It is above all others: `above` is not set.
    bool is_highest;
    bool is_stranger;
    /// With UPCAST_X_WINDOW_MAPPED.
    bool is_override_redirect;
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
/// @param pixmap   of `upcast_x_compose`, to get a part of it instead; 0 for the root window.
/// @param segment  of `upcast_x_attach`; 0 to copy the picture over the connection to `target`.
/// @param offset   in the segment.
/// @param target   `byte_count` bytes, which must be exactly the picture's.
int upcast_x_grab(
    upcast_x *x, uint32_t pixmap, const upcast_x_rectangle *area, uint32_t segment, uint32_t offset, void *target,
    size_t byte_count, upcast_x_picture *picture);

/// A window in a picture that is put together of several.
typedef struct {
    /// The window, and the child of the root window that it is or is in.
    uint32_t window, top;
    /// Where it is in the picture, without its border.
    int32_t x, y;
    uint16_t width, height;
    /// From the upper left corner of `top`, inside its border, to that of the window.
    int32_t left, upper;
} upcast_x_layer;
enum { UPCAST_X_MAX_LAYERS = 16 };

/// Prepares for `upcast_x_compose`, until `upcast_x_end_composition`. False where the server lacks Composite 0.2, RENDER
/// or DAMAGE.
bool upcast_x_begin_composition(upcast_x *x);
/// Puts windows together, the first one lowest, also where others cover them on the screen. Each change of one of them is
/// reported as UPCAST_X_DAMAGED from then on. At most UPCAST_X_MAX_LAYERS. Returns the pixmap with the picture, which is
/// of the moment at which it is copied: windows that are gone by then are missing.
///
/// A window has pixels of its own only where its program has drawn since the server gave it pixels. What it has not drawn
/// after half a second is painted black, on the screen too.
///
/// @param now_ms    of any clock.
/// @param is_whole  true to get a picture in which such pixels are black, false to get 0 while there are any. Becomes
///                  whether there are none.
uint32_t upcast_x_compose(
    upcast_x *x, const upcast_x_layer *layers, uint32_t count, uint16_t width, uint16_t height, uint64_t now_ms,
    bool *is_whole);
/// Windows inside a child of the root window have moved: what was not drawn may be in another place of it.
void upcast_x_source_moved_inside(upcast_x *x, uint32_t top);
/// Frees what composing has taken.
void upcast_x_end_composition(upcast_x *x);
/// Where a window is in the root window, without its border. A status.
int upcast_x_window_place(upcast_x *x, uint32_t window, int32_t *left, int32_t *top, uint16_t *width, uint16_t *height);

/// The next event that has arrived, with a sequence number below `before`. False without one.
bool upcast_x_next_event(upcast_x *x, uint32_t before, upcast_x_event *event);
/// The next event that has arrived; reads what the server has sent. False without one.
bool upcast_x_read_event(upcast_x *x, upcast_x_event *event);

/// What `upcast_x_cursor` returns beside a number of pixels.
enum {
    /// The connection is lost.
    UPCAST_X_CURSOR_LOST = -1,
    /// There is a shape, and the server does not tell it: the program that made it has ended (SECURITY). Or it has more
    /// pixels than there is room for.
    UPCAST_X_CURSOR_UNKNOWN = -2,
};

/// The pointer's shape: premultiplied ARGB, at most `capacity` pixels. Returns the number of its pixels; 0 without a
/// shape, or one of the above.
///
/// @param is_named  whether its program has given it a name, as libXcursor does for shapes of themes.
int upcast_x_cursor(
    upcast_x *x, uint32_t *pixels, size_t capacity, uint16_t *width, uint16_t *height, uint16_t *hot_x,
    uint16_t *hot_y, bool *is_named);

/// Reports each motion of the pointer that a device makes, or no more. Programs that move it themselves (WarpPointer) are
/// not reported.
void upcast_x_watch_motion(upcast_x *x, bool is_on);
/// Where the pointer is.
int upcast_x_pointer(upcast_x *x, bool *is_here, int16_t *pointer_x, int16_t *pointer_y);

/// The monitors, at most `capacity`. Returns their number; -1 where the connection is lost.
int upcast_x_monitors(upcast_x *x, upcast_x_monitor *monitors, size_t capacity);

/// Asks for events of the root window's children from now on, and lists them as they are at this moment, the lowest one
/// first. Returns their number, which may be larger than `capacity`; -1 where the connection is lost.
int upcast_x_watch_windows(upcast_x *x, upcast_x_window *windows, size_t capacity);

/// The bits of a window's number that the X client chooses that makes it; the others tell which X client that is.
uint32_t upcast_x_resource_mask(upcast_x *x);

/// The number of a request that does nothing: events with a lower one have arrived. A status.
int upcast_x_moment(upcast_x *x, uint32_t *sequence);
/// Makes all other clients wait, or lets them go on. Short: the whole desktop stands still meanwhile.
void upcast_x_grab_server(upcast_x *x, bool is_on);

/// Who the window manager is now. The facts that are read after this are as of it. A status.
int upcast_x_read_manager(upcast_x *x, upcast_x_manager *manager);
/// Asks for events of windows and of all in them, and then reads what they are. A status.
///
/// @param count  at most UPCAST_X_READ_AT_ONCE.
int upcast_x_read_facts(upcast_x *x, const uint32_t *windows, uint32_t count, upcast_x_facts *facts);
/// Reads what windows are called. A status.
///
/// @param count  at most UPCAST_X_READ_AT_ONCE.
int upcast_x_read_names(upcast_x *x, const uint32_t *windows, uint32_t count, upcast_x_names *names);
/// Reads which processes X clients belong to. Each is given by its number or that of a window. Without X-Resource, all
/// are there, of no known process. A status.
///
/// @param count  at most UPCAST_X_READ_AT_ONCE.
int upcast_x_read_clients(upcast_x *x, const uint32_t *clients, uint32_t count, upcast_x_client *found);
enum { UPCAST_X_READ_AT_ONCE = 16 };

/// The client window that is active, as the window manager says (_NET_ACTIVE_WINDOW); 0 for none.
int upcast_x_active_window(upcast_x *x, uint32_t *window);

/// Paints areas of the screen black, over all windows, and makes their programs draw again, as xrefresh does. Returns the
/// number of the request: events with this number or a higher one are of later moments.
///
/// @param count  at most UPCAST_X_MAX_ERASED.
uint32_t upcast_x_erase(upcast_x *x, const upcast_x_rectangle *areas, uint32_t count);
enum { UPCAST_X_MAX_ERASED = 64 };

/// Asks a compositing manager to paint an area: a transparent window comes below all others, until
/// `upcast_x_end_repaint`. Does nothing if the server has no visual for it, or no XFIXES.
void upcast_x_ask_repaint(upcast_x *x, const upcast_x_rectangle *area);
void upcast_x_end_repaint(upcast_x *x);

/// The root window's size now.
int upcast_x_root_size(upcast_x *x, uint16_t *width, uint16_t *height);

#endif
