#ifndef UPCAST_WAYLAND_CONNECTION_H
#define UPCAST_WAYLAND_CONNECTION_H

#include "CWayland.h"
#include "interfaces.h"
#include "library.h"

enum { UPCAST_WL_MAX_OUTPUTS = 16 };

/// An output of the compositor.
typedef struct {
    upcast_wl *wl;
    struct wl_proxy *proxy, *xdg;
    upcast_wl_output facts;
    uint32_t version;
    /// Whether the compositor has described it completely once.
    bool is_known;
} output_slot;

struct upcast_wl {
    const upcast_wl_library *library;
    struct wl_display *display;
    /// The open question (wl_display.sync); NULL for none.
    struct wl_proxy *question;
    struct wl_proxy *registry, *shm, *xdg_manager, *screencopy, *source_manager, *capture_manager;
    uint32_t screencopy_version;
    /// In the compositor's order; the first `output_count` have proxies.
    output_slot *outputs[UPCAST_WL_MAX_OUTPUTS];
    size_t output_count;
    uint32_t outputs_change, meetings, last_output;

    upcast_wl_picture picture;
    struct wl_proxy *frame, *source, *session;
    /// The session's requirements for pictures. `next` collects those that the compositor has sent since the last
    /// `done`.
    struct {
        uint32_t width, height, format;
        bool has_format;
    } next, constraints;
    bool is_described, is_ended;
};

/// Sends a request to the object. `interface` is that of the object that the request creates, if any.
struct wl_proxy *upcast_wl_request(
    upcast_wl *wl, struct wl_proxy *proxy, uint32_t opcode, const struct wl_interface *interface, uint32_t version,
    union wl_argument *arguments);
/// Sends the last request of the object, if it has one, and destroys the proxy. Does nothing for NULL.
void upcast_wl_destroy(upcast_wl *wl, struct wl_proxy **proxy, int opcode);
/// Calls `function` with `data` for each event of the object.
void upcast_wl_listen(upcast_wl *wl, struct wl_proxy *proxy, wl_dispatcher_func_t function, void *data);

/// outputs.c
void upcast_wl_add_output(upcast_wl *wl, uint32_t name, uint32_t version);
void upcast_wl_remove_output(upcast_wl *wl, size_t index);
/// Asks xdg-output for the output's name, if the compositor offers it.
void upcast_wl_describe_output(output_slot *output);
struct wl_proxy *upcast_wl_output_proxy(upcast_wl *wl, uint32_t id);

/// screencopy.c and imagecopy.c
void upcast_wl_ask_screencopy(
    upcast_wl *wl, struct wl_proxy *output, bool has_pointer, const upcast_wl_rectangle *part);
void upcast_wl_ask_image_copy(upcast_wl *wl, struct wl_proxy *output, bool has_pointer);
void upcast_wl_copy_image(upcast_wl *wl, upcast_wl_buffer *buffer);

/// picture.c
void upcast_wl_note_damage(upcast_wl_picture *picture, int32_t x, int32_t y, int32_t width, int32_t height);
void upcast_wl_note_time(upcast_wl_picture *picture, uint32_t high, uint32_t low, uint32_t nanoseconds);

#endif
