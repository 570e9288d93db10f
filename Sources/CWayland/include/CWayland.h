/// The parts of a Wayland compositor that upcast-screen needs: its outputs, and pictures of them in memory that the
/// daemon reads.
///
/// It uses libwayland-client, which is loaded when needed, so that the program starts without it. A connection is for
/// one thread at a time. No function waits, unless its comment says so.
#ifndef UPCAST_WAYLAND_H
#define UPCAST_WAYLAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_wl upcast_wl;
/// Memory that the compositor has mapped for writing.
typedef struct upcast_wl_memory upcast_wl_memory;
/// The place of a picture in such memory.
typedef struct upcast_wl_buffer upcast_wl_buffer;

typedef struct {
    int32_t x, y, width, height;
} upcast_wl_rectangle;

typedef struct {
    /// Identifies it among the compositor's objects. An output that comes back has another number.
    uint32_t id;
    /// In UTF-8, possibly cut, ends at the first 0. Empty if the compositor does not report it.
    char name[64];
    /// Its position and size in the desktop, in the compositor's logical pixels. Without xdg-output, the size is 0.
    upcast_wl_rectangle logical;
    /// The size of the output in pixels as it is stored, before it is turned.
    int32_t mode_width, mode_height;
    /// Millihertz; 0 if unknown.
    int32_t refresh;
    /// wl_output.transform, 0 to 7.
    int32_t transform;
    /// Its number on this connection, from 1. Numbers are not reused.
    uint32_t number;
} upcast_wl_output;

/// The protocols by which pictures are requested.
enum upcast_wl_protocol {
    /// ext-image-copy-capture-v1: whole outputs.
    UPCAST_WL_IMAGE_COPY,
    /// wlr-screencopy-unstable-v1, version 3: outputs, and parts of them.
    UPCAST_WL_SCREENCOPY,
};

/// The stages of a picture.
enum upcast_wl_stage {
    /// No picture was requested.
    UPCAST_WL_IDLE,
    /// The compositor was asked to describe the picture.
    UPCAST_WL_ASKED,
    /// The compositor has described it: `upcast_wl_copy` is next.
    UPCAST_WL_DESCRIBED,
    /// The compositor writes the picture when something changes.
    UPCAST_WL_COPYING,
    UPCAST_WL_READY,
    /// There will be no picture; another attempt may succeed.
    UPCAST_WL_FAILED,
};

/// A picture that is requested or ready.
typedef struct {
    enum upcast_wl_stage stage;
    /// wl_shm.format; `stride` is the one that the compositor requests. Valid from UPCAST_WL_DESCRIBED on.
    uint32_t format, width, height, stride;
    /// The remaining members are valid in UPCAST_WL_READY.
    bool is_upside_down;
    /// wl_output.transform of the picture; -1 if the protocol does not report it. The output's transform then applies.
    int32_t transform;
    /// When it was shown, in nanoseconds of a clock that the protocol may leave undefined. Negative if it is not
    /// reported.
    int64_t time;
    /// The differences from the picture before, in its pixels. `damage_count` may be larger than the array. The last
    /// rectangle is then the bounding box of the rest. 0 if no damage is reported.
    upcast_wl_rectangle damage[16];
    uint32_t damage_count;
} upcast_wl_picture;

enum upcast_wl_error {
    UPCAST_WL_NO_LIBRARY = 1,
    UPCAST_WL_OLD_LIBRARY,
    UPCAST_WL_NO_COMPOSITOR,
    UPCAST_WL_NO_MEMORY,
};

/// Connects (NULL: $WAYLAND_DISPLAY), and waits until the compositor has listed its globals and described its outputs.
/// Returns NULL and an upcast_wl_error on failure.
upcast_wl *upcast_wl_open(const char *socket, int *error);
void upcast_wl_close(upcast_wl *wl);

/// For `poll`.
int upcast_wl_descriptor(upcast_wl *wl);
/// Reads the events that the compositor has sent. False if the connection is lost.
bool upcast_wl_read(upcast_wl *wl);
/// Sends the pending requests. 0: sent; 1: call again when the descriptor is writable; -1: the connection is lost.
int upcast_wl_flush(upcast_wl *wl);
/// Waits for the events that the compositor has sent until now. False if the connection is lost.
bool upcast_wl_catch_up(upcast_wl *wl);
/// Asks the compositor for a sign of life (wl_display.sync), unless a question is open. A question is open until
/// `upcast_wl_read` has read the answer.
void upcast_wl_question(upcast_wl *wl);
bool upcast_wl_has_question(upcast_wl *wl);
/// Whether the compositor has ended the connection because of a request. The interface and the number of the error come
/// from the compositor. The text has `room` bytes including its zero.
bool upcast_wl_refusal(upcast_wl *wl, char *interface, size_t room, uint32_t *code);

bool upcast_wl_has(upcast_wl *wl, enum upcast_wl_protocol protocol);
/// The version of wlr-screencopy that the compositor offers; 0 for none.
uint32_t upcast_wl_screencopy_version(upcast_wl *wl);

/// The outputs that are completely described, in the compositor's order. Returns their number, at most `capacity`.
size_t upcast_wl_outputs(upcast_wl *wl, upcast_wl_output *outputs, size_t capacity);
/// The number of outputs, completely described or not.
size_t upcast_wl_output_count(upcast_wl *wl);
/// How often an output came while another one was there.
uint32_t upcast_wl_meetings(upcast_wl *wl);
/// A counter of the changes of outputs.
uint32_t upcast_wl_outputs_change(upcast_wl *wl);

/// Lets the compositor map memory for writing, and waits until it has. The caller keeps the descriptor. NULL if the
/// connection is lost.
upcast_wl_memory *upcast_wl_attach(upcast_wl *wl, int descriptor, int32_t byte_count);
/// Drop all buffers of the memory first.
void upcast_wl_detach(upcast_wl *wl, upcast_wl_memory *memory);
upcast_wl_buffer *upcast_wl_make_buffer(
    upcast_wl *wl, upcast_wl_memory *memory, int32_t offset, int32_t width, int32_t height, int32_t stride,
    uint32_t format);
void upcast_wl_drop_buffer(upcast_wl *wl, upcast_wl_buffer *buffer);

/// Asks for a picture of an output: UPCAST_WL_ASKED, or UPCAST_WL_FAILED if the output is gone.
///
/// @param part  a part of the output, in logical pixels as the user sees it; NULL for all. Only UPCAST_WL_SCREENCOPY.
void upcast_wl_ask(
    upcast_wl *wl, enum upcast_wl_protocol protocol, uint32_t output, bool has_pointer,
    const upcast_wl_rectangle *part);
/// Lets the compositor write a picture that it has described: UPCAST_WL_COPYING.
///
/// @param waits  until something has changed since the last picture, as long as it takes. UPCAST_WL_IMAGE_COPY waits
///               except for the first picture of a session.
void upcast_wl_copy(upcast_wl *wl, upcast_wl_buffer *buffer, bool waits);
/// Forgets the picture: UPCAST_WL_IDLE.
void upcast_wl_end_picture(upcast_wl *wl);
/// Ends the session of UPCAST_WL_IMAGE_COPY, too: the next picture may be of another output.
void upcast_wl_end_session(upcast_wl *wl);
upcast_wl_picture upcast_wl_current(upcast_wl *wl);

#endif
