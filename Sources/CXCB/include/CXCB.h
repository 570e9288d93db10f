/// The X server as upcast-screen needs it: libxcb's requests, replies and events as plain values.
///
/// A connection is for one thread at a time. Functions that return a status return 0, an X error code (1 to 255), or -1
/// if the connection is lost.
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

/// The pixel format of the root window, and what the server offers.
typedef struct {
    uint32_t root;
    uint16_t width, height;
    uint8_t depth, bits_per_pixel;
    uint32_t red_mask, green_mask, blue_mask;
    bool is_true_color, is_lsb_first;
    /// The server has MIT-SHM 1.2, and accepts its requests from this client.
    bool has_shared_memory;
    bool has_damage, has_fixes, has_monitors;
    /// XInput 2.1: `upcast_x_watch_motion` has an effect.
    bool reports_motion;
    /// The server is Xwayland: a Wayland compositor shows the windows, and the root window has no picture.
    bool is_xwayland;
} upcast_x_screen;

typedef struct {
    char name[64];
    upcast_x_rectangle area;
    bool is_primary;
} upcast_x_monitor;

/// A picture of a part of the root window, and the state at that very moment.
typedef struct {
    /// The sequence number of the picture's request: events with a lower number are in the picture.
    uint32_t sequence;
    /// Where the root window has changed since the last picture. `damage_count` may exceed the array; `damage_bounds`
    /// is the bounding box of all damage.
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
    /// It takes input and shows nothing (class InputOnly).
    bool is_input_only;
    /// False if the server does not describe the window; the other members then mean nothing.
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

/// The names of a window, and its owner.
typedef struct {
    uint32_t window;
    /// False if the window or its client is gone; the other members then mean nothing.
    bool is_there;
    /// Both parts of WM_CLASS, and the titles, in UTF-8; each ends at the first 0. `title` is _NET_WM_NAME, or WM_NAME
    /// if that is missing. `old_title` is WM_NAME beside _NET_WM_NAME; empty if it cannot be decoded.
    char instance[128], class_name[128], title[1024], old_title[1024];
    /// A part of WM_CLASS did not fit. A title did not fit, or the only title cannot be decoded.
    bool is_class_cut, is_title_cut;
    /// The process, as the server knows it (XRes); 0 if it does not, or if `upcast_x_knows_processes` is false.
    uint32_t process;
    /// The X client that created the window, as the client bits of the window ID.
    uint32_t maker;
} upcast_x_names;

/// The process of an X client.
typedef struct {
    /// False if it has ended.
    bool is_there;
    /// As in `upcast_x_names`.
    uint32_t process;
} upcast_x_client;

/// The limits of a search inside a child of the root window: windows, itself included, and levels.
enum { UPCAST_X_MAX_INSIDE = 1024, UPCAST_X_MAX_LEVELS = 32 };

/// Facts about a child of the root window: an unmanaged window, or the frame that a window manager has put around a
/// client window. Texts and numbers come from this window and from the client window inside it.
typedef struct {
    /// This window.
    upcast_x_window own;
    /// The first window in this subtree that a manager manages (it has WM_STATE); 0 for none.
    uint32_t managed;
    /// The client window; without a frame, this window.
    uint32_t client;
    /// The managed window is inside this one, which is its frame if there is a window manager.
    bool has_frame;
    /// The X client that made this window.
    uint32_t maker;
    upcast_x_names client_names;
    /// Windows in this subtree with a name or a non-zero _UPCAST_SECURE, outer levels first. They may belong to other
    /// programs.
    uint32_t named[UPCAST_X_MAX_INSIDE];
    uint32_t named_count;
    /// All windows that were examined, including this one. They report events from now on.
    uint32_t inside[UPCAST_X_MAX_INSIDE];
    uint32_t inside_count;
    /// Some windows inside were not examined: the limits were reached, or there was no memory.
    bool has_unseen;
    /// The largest value of _UPCAST_SECURE in this subtree.
    uint32_t secure;
    /// The owner that WM_TRANSIENT_FOR names; 0 for none, or for the group.
    uint32_t transient_for;
    /// It is transient for all windows of its group.
    bool is_transient_for_group;
    /// The window group of WM_HINTS; 0 for none.
    uint32_t group;
    /// The icon window of WM_HINTS, which its program draws; 0 for none.
    uint32_t icon;
    /// Where taskbars show the window (_NET_WM_ICON_GEOMETRY), in the root window; empty if unknown.
    upcast_x_rectangle icon_place;
    /// It may be a frame whose client is gone, or has not come yet.
    bool is_empty_frame;
    uint32_t types;
} upcast_x_facts;

/// The window manager.
typedef struct {
    /// A client positions windows: it has selected SubstructureRedirect on the root window.
    bool is_there;
    /// The X client that creates the manager's windows; 0 if the manager does not identify itself.
    uint32_t maker;
    /// The selection owner of the compositing manager; 0 for none. That manager paints the screen some time after
    /// windows have changed.
    uint32_t compositor;
    /// It shows the desktop instead of the windows (_NET_SHOWING_DESKTOP).
    bool shows_desktop;
} upcast_x_manager;

enum upcast_x_event_kind {
    UPCAST_X_OTHER,
    UPCAST_X_DAMAGED,
    /// The root window has another size, or monitors were added, removed or moved.
    UPCAST_X_SCREEN_CHANGED,
    /// The pointer has another shape.
    UPCAST_X_CURSOR_CHANGED,
    /// A device moves the pointer, with `upcast_x_watch_motion`.
    UPCAST_X_POINTER_MOVED,
    /// A child of the root window was created, with its geometry, or reparented to the root, without its size. It is
    /// not viewable yet.
    UPCAST_X_WINDOW_CAME,
    /// The child was destroyed, or reparented into another window.
    UPCAST_X_WINDOW_WENT,
    UPCAST_X_WINDOW_MAPPED,
    UPCAST_X_WINDOW_UNMAPPED,
    UPCAST_X_WINDOW_MOVED,
    /// A window inside the child has moved, or has another size.
    UPCAST_X_WINDOW_MOVED_INSIDE,
    /// A window inside the child was unmapped, perhaps the client window.
    UPCAST_X_WINDOW_UNMAPPED_INSIDE,
    /// The facts about the child, or about a window inside it, have changed.
    UPCAST_X_WINDOW_CHANGED,
    /// The child, or a window inside it, has another title.
    UPCAST_X_WINDOW_RENAMED,
    /// A window was created in the child or reparented into it. `is_stranger`: another X client created that window.
    UPCAST_X_WINDOW_CAME_INSIDE,
    /// A window inside the child has gone.
    UPCAST_X_WINDOW_REARRANGED,
    /// WM_STATE of the child, or of a window inside it, has changed: the window may be an icon now, or no longer one.
    UPCAST_X_WINDOW_STATE_CHANGED,
    /// The child, or a window inside it, has another place in the taskbar.
    UPCAST_X_WINDOW_ICON_MOVED,
    /// The child has another place in the stack.
    UPCAST_X_WINDOW_RESTACKED,
    /// The window manager reports that another window is active.
    UPCAST_X_ACTIVE_CHANGED,
    /// The overlay window, in which a compositing manager draws, has got the input focus or lost it. Reported
    /// from the first `upcast_x_overlay_focus` on.
    UPCAST_X_OVERLAY_FOCUS_CHANGED,
    /// A compositing manager has come or gone: `window` is the selection owner, or 0.
    UPCAST_X_COMPOSITOR_CHANGED,
    /// The window manager shows another virtual desktop, or the desktop instead of windows, or windows again.
    UPCAST_X_DESKTOP_CHANGED,
};

typedef struct {
    enum upcast_x_event_kind kind;
    uint32_t sequence;
    /// The place of the root window, or of the window with its border; 0 where the event does not tell.
    int32_t x, y, width, height;
    uint32_t window;
    /// The window that was destroyed: `window`, or one inside it; 0 for none.
    uint32_t destroyed;
    /// With UPCAST_X_WINDOW_MOVED and RESTACKED: the sibling directly below the window; 0 if the window is the lowest.
    uint32_t above;
    /// The window is above all others; `above` is not set.
    bool is_highest;
    bool is_stranger;
    /// With UPCAST_X_WINDOW_MAPPED.
    bool is_override_redirect;
} upcast_x_event;

/// Connects to a display (NULL: $DISPLAY). On failure returns NULL, and libxcb's error or UPCAST_X_NO_SCREEN in
/// `error`.
upcast_x *upcast_x_open(const char *display, int *error);
void upcast_x_close(upcast_x *x);
enum { UPCAST_X_NO_SCREEN = 100 };

/// Queries what the server offers, and selects events of the root window. Call it once, after opening.
int upcast_x_begin(upcast_x *x, upcast_x_screen *screen);

int upcast_x_descriptor(upcast_x *x);
bool upcast_x_is_lost(upcast_x *x);

/// Lets the server map memory for writing. Takes ownership of the descriptor. When this returns 0, the server has
/// mapped it.
int upcast_x_attach(upcast_x *x, int descriptor, uint32_t *segment);
void upcast_x_detach(upcast_x *x, uint32_t segment);

/// Gets a picture of a part of the root window in one round trip, by default into shared memory.
///
/// @param pixmap   from `upcast_x_compose`, to copy a part of it instead; 0 for the root window.
/// @param segment  from `upcast_x_attach`; 0 to copy the picture over the connection to `target`.
/// @param offset   in the segment.
/// @param target   `byte_count` bytes, exactly the size of the picture.
int upcast_x_grab(
    upcast_x *x, uint32_t pixmap, const upcast_x_rectangle *area, uint32_t segment, uint32_t offset, void *target,
    size_t byte_count, upcast_x_picture *picture);

/// A window in a composed picture.
typedef struct {
    /// The window, and the child of the root window that contains it; both may be the same.
    uint32_t window, top;
    /// The window's place in the picture, without its border.
    int32_t x, y;
    uint16_t width, height;
    /// The offset from the upper left corner of `top`, inside its border, to that of the window.
    int32_t left, upper;
} upcast_x_layer;
enum { UPCAST_X_MAX_LAYERS = 16 };

/// Prepares for `upcast_x_compose`, until `upcast_x_end_composition`. False if the server lacks Composite 0.2, RENDER
/// or DAMAGE.
bool upcast_x_begin_composition(upcast_x *x);
/// Composes a picture of at most UPCAST_X_MAX_LAYERS windows, the first one lowest, even where others cover them on the
/// screen. From then on, UPCAST_X_DAMAGED reports each change of these windows. Returns the pixmap with the picture. It
/// is as of the moment at which the server copies the windows: those that are gone by then are missing.
///
/// A window owns only the pixels that its program has drawn since the server allocated them. What is not drawn after
/// half a second is painted black, on the screen too.
///
/// @param now_ms    of any clock.
/// @param is_whole  on entry, true to get a picture in which undrawn pixels are black, false to get 0 while there are
///                  any. On return, whether there are none.
uint32_t upcast_x_compose(
    upcast_x *x, const upcast_x_layer *layers, uint32_t count, uint16_t width, uint16_t height, uint64_t now_ms,
    bool *is_whole);
/// Windows inside a child of the root window have moved: undrawn pixels may have moved with them.
void upcast_x_source_moved_inside(upcast_x *x, uint32_t top);
/// Frees the resources of the composition.
void upcast_x_end_composition(upcast_x *x);
/// Whether a window and all windows around it are mapped. A status.
int upcast_x_is_viewable(upcast_x *x, uint32_t window, bool *is_viewable);
/// Where a window is in the root window, without its border. A status.
int upcast_x_window_place(upcast_x *x, uint32_t window, int32_t *left, int32_t *top, uint16_t *width, uint16_t *height);

/// The next event in libxcb's queue with a sequence number below `before`. False if there is none.
bool upcast_x_next_event(upcast_x *x, uint32_t before, upcast_x_event *event);
/// The next event that has arrived; reads what the server has sent. False if there is none.
bool upcast_x_read_event(upcast_x *x, upcast_x_event *event);

/// What `upcast_x_cursor` returns beside a number of pixels.
enum {
    /// The connection is lost.
    UPCAST_X_CURSOR_LOST = -1,
    /// There is a shape, but the server does not send it, as the program that made it has ended (SECURITY). Or the
    /// shape has more pixels than there is room for.
    UPCAST_X_CURSOR_UNKNOWN = -2,
};

/// The pointer's shape: premultiplied ARGB, at most `capacity` pixels. Returns the number of its pixels; 0 if there is
/// no shape, or one of the above.
///
/// @param is_named  whether the program has named the shape, as libXcursor does for shapes of themes.
int upcast_x_cursor(
    upcast_x *x, uint32_t *pixels, size_t capacity, uint16_t *width, uint16_t *height, uint16_t *hot_x,
    uint16_t *hot_y, bool *is_named);

/// Starts or stops reports of each motion of the pointer by a device. Motion by programs (WarpPointer) is not reported.
void upcast_x_watch_motion(upcast_x *x, bool is_on);
/// Where the pointer is.
int upcast_x_pointer(upcast_x *x, bool *is_here, int16_t *pointer_x, int16_t *pointer_y);

/// The monitors, at most `capacity`. Returns their number; -1 where the connection is lost.
int upcast_x_monitors(upcast_x *x, upcast_x_monitor *monitors, size_t capacity);

/// Selects events of the root window's children, and lists them as of this moment, the lowest one first. Returns their
/// number, which may exceed `capacity`; -1 if the connection is lost.
int upcast_x_watch_windows(upcast_x *x, upcast_x_window *windows, size_t capacity);

/// The bits of a window ID that its X client chooses; the other bits identify the client.
uint32_t upcast_x_resource_mask(upcast_x *x);
/// The client bits of the windows that this connection makes.
uint32_t upcast_x_own_client(upcast_x *x);

/// Makes a round trip, and returns its number in `sequence`: events with a lower one have arrived. A status.
int upcast_x_moment(upcast_x *x, uint32_t *sequence);
/// Makes all other clients wait, or resumes them. Keep it short: the whole desktop stands still meanwhile.
void upcast_x_grab_server(upcast_x *x, bool is_on);

/// Reads the window manager. Facts that are read afterwards rely on this reading. A status.
int upcast_x_read_manager(upcast_x *x, upcast_x_manager *manager);
/// Selects events of windows and of all windows inside them, and reads their facts. A status.
///
/// @param count  at most UPCAST_X_READ_AT_ONCE.
int upcast_x_read_facts(upcast_x *x, const uint32_t *windows, uint32_t count, upcast_x_facts *facts);
/// Reads the names and owners of windows. A status.
///
/// @param count  at most UPCAST_X_READ_AT_ONCE.
int upcast_x_read_names(upcast_x *x, const uint32_t *windows, uint32_t count, upcast_x_names *names);
/// Whether the server has the right ID of this process. Otherwise its process IDs are of another system: over a network,
/// behind a relay (ssh -X), or in another PID namespace. False before `upcast_x_watch_windows`.
bool upcast_x_knows_processes(upcast_x *x);

/// Reads the processes of X clients. Each client is given by its ID, or by the ID of one of its windows. Without
/// X-Resource, all clients are there, with an unknown process. A status.
///
/// @param count  at most UPCAST_X_READ_AT_ONCE.
int upcast_x_read_clients(upcast_x *x, const uint32_t *clients, uint32_t count, upcast_x_client *found);
enum { UPCAST_X_READ_AT_ONCE = 16 };

/// The active client window, as the window manager reports it (_NET_ACTIVE_WINDOW); 0 for none.
int upcast_x_active_window(upcast_x *x, uint32_t *window);

/// Whether the input focus is in the overlay window (Composite), in which a compositing manager draws. Also true if the
/// window with the focus ends at this moment. Only to be called with a compositing manager that has this window.
int upcast_x_overlay_focus(upcast_x *x, bool *has_focus);

/// Paints areas of the screen black, over all windows, and makes their programs draw again, as xrefresh does. Returns
/// the sequence number of the request: events with this number or a higher one came later.
///
/// @param count  at most UPCAST_X_MAX_ERASED.
uint32_t upcast_x_erase(upcast_x *x, const upcast_x_rectangle *areas, uint32_t count);
enum { UPCAST_X_MAX_ERASED = 64 };

/// Makes a compositing manager paint an area: maps a transparent window below all others until `upcast_x_end_repaint`.
/// Does nothing if the server has no visual for it, or no XFIXES.
void upcast_x_ask_repaint(upcast_x *x, const upcast_x_rectangle *area);
void upcast_x_end_repaint(upcast_x *x);
typedef struct {
    uint32_t window;
    uint16_t width, height;
} upcast_x_drawn;
/// Draws the pixels of windows over themselves, so that DAMAGE reports them to a compositing manager. A manager that
/// paints nothing below opaque windows, as xfwm4, paints these then. Pictures do not report this damage.
///
/// @param drawn  children of the root window. Nothing happens to one that has gone, or has no pixels.
void upcast_x_redraw(upcast_x *x, const upcast_x_drawn *drawn, uint32_t count);

enum { UPCAST_X_MARKS = 2, UPCAST_X_MARK_SIDE = 8 };
/// Whether a pixel of the marks' pattern is grey, not black. Both numbers are below UPCAST_X_MARK_SIDE.
bool upcast_x_mark_is_grey(uint32_t column, uint32_t row);
/// Shows a pattern at several places, above all other windows, or puts it there again. With XFIXES, clicks go to the
/// windows below.
///
/// @param places   UPCAST_X_MARKS squares in the root window.
/// @param windows  gets UPCAST_X_MARKS windows, which show the pattern.
void upcast_x_show_marks(upcast_x *x, const upcast_x_rectangle *places, uint32_t *windows);
/// Ends the windows with the pattern.
void upcast_x_hide_marks(upcast_x *x);

/// The root window's size now.
int upcast_x_root_size(upcast_x *x, uint16_t *width, uint16_t *height);

#endif
