/// A Wayland compositor as upcast-screen needs it: its outputs, and pictures of them in memory that the daemon reads.
///
/// Speaks through libwayland-client, which is loaded when it is needed: the program starts without it. A connection is
/// for one thread at a time. Nothing here waits, except where it says so.
#ifndef UPCAST_WAYLAND_H
#define UPCAST_WAYLAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_wl upcast_wl;
/// Memory that the compositor has mapped for writing.
typedef struct upcast_wl_memory upcast_wl_memory;
/// A picture's place in such memory.
typedef struct upcast_wl_buffer upcast_wl_buffer;

typedef struct {
    int32_t x, y, width, height;
} upcast_wl_rectangle;

typedef struct {
    /// Its number among the compositor's objects; another one when it comes back.
    uint32_t id;
    /// In UTF-8, cut, and ends at the first 0. Empty where the compositor does not tell.
    char name[64];
    /// Its place in the desktop, in the compositor's logical pixels. Without xdg-output the size is 0.
    upcast_wl_rectangle logical;
    /// Pixels of the output as it is stored, before it is turned.
    int32_t mode_width, mode_height;
    /// Millihertz; 0 if unknown.
    int32_t refresh;
    /// wl_output.transform, 0 to 7.
    int32_t transform;
    /// Its number on this connection, from 1; no other output gets it again.
    uint32_t number;
} upcast_wl_output;

/// How pictures are asked for.
enum upcast_wl_protocol {
    /// ext-image-copy-capture-v1: whole outputs.
    UPCAST_WL_IMAGE_COPY,
    /// wlr-screencopy-unstable-v1, version 3: outputs, and parts of them.
    UPCAST_WL_SCREENCOPY,
};

/// What becomes of a picture.
enum upcast_wl_stage {
    /// There is none.
    UPCAST_WL_IDLE,
    /// The compositor was asked what it has to look like.
    UPCAST_WL_ASKED,
    /// It has answered: `upcast_wl_copy` is next.
    UPCAST_WL_DESCRIBED,
    /// The compositor writes it, when something changes.
    UPCAST_WL_COPYING,
    UPCAST_WL_READY,
    /// There will be none; another attempt may do.
    UPCAST_WL_FAILED,
};

/// A picture that is on its way, or there.
typedef struct {
    enum upcast_wl_stage stage;
    /// wl_shm.format; `stride` is the compositor's wish. From UPCAST_WL_DESCRIBED on.
    uint32_t format, width, height, stride;
    /// The rest is known in UPCAST_WL_READY.
    bool is_upside_down;
    /// wl_output.transform of the picture; -1 where the protocol does not tell: then it is the output's.
    int32_t transform;
    /// When it was shown; nanoseconds of a clock that the protocol may leave open. Negative if it is not told.
    int64_t time;
    /// What differs from the picture before, in its pixels. `damage_count` may be larger than the array, whose last
    /// rectangle is then the box of the rest. 0 where nothing is told.
    upcast_wl_rectangle damage[16];
    uint32_t damage_count;
} upcast_wl_picture;

enum upcast_wl_error {
    UPCAST_WL_NO_LIBRARY = 1,
    UPCAST_WL_OLD_LIBRARY,
    UPCAST_WL_NO_COMPOSITOR,
    UPCAST_WL_NO_MEMORY,
};

/// Connects (NULL: $WAYLAND_DISPLAY), and waits until the compositor has told what it has. Returns NULL and an
/// upcast_wl_error.
upcast_wl *upcast_wl_open(const char *socket, int *error);
void upcast_wl_close(upcast_wl *wl);

/// For `poll`.
int upcast_wl_descriptor(upcast_wl *wl);
/// Takes what the compositor has sent. False where the connection is lost.
bool upcast_wl_read(upcast_wl *wl);
/// Sends what was asked for. 0: sent; 1: again when the descriptor can be written to; -1: lost.
int upcast_wl_flush(upcast_wl *wl);
/// Asks the compositor for a sign of life (wl_display.sync), unless a question is open. It is open until `upcast_wl_read`
/// has read the answer.
void upcast_wl_question(upcast_wl *wl);
bool upcast_wl_has_question(upcast_wl *wl);
/// Whether the compositor has ended the connection because of a request. The interface and the number of the error are
/// the compositor's; the text is `room` bytes with its zero.
bool upcast_wl_refusal(upcast_wl *wl, char *interface, size_t room, uint32_t *code);

bool upcast_wl_has(upcast_wl *wl, enum upcast_wl_protocol protocol);
/// The version of wlr-screencopy that the compositor offers; 0 for none.
uint32_t upcast_wl_screencopy_version(upcast_wl *wl);

/// The outputs that are known whole, in the compositor's order. Returns their number, at most `capacity`.
size_t upcast_wl_outputs(upcast_wl *wl, upcast_wl_output *outputs, size_t capacity);
/// How many outputs there are, known whole or not.
size_t upcast_wl_output_count(upcast_wl *wl);
/// How often an output has come while another one was there.
uint32_t upcast_wl_meetings(upcast_wl *wl);
/// Rises with each change of an output.
uint32_t upcast_wl_outputs_change(upcast_wl *wl);

/// Lets the compositor map memory for writing, and waits until it has. The descriptor stays the caller's. NULL where the
/// connection is lost.
upcast_wl_memory *upcast_wl_attach(upcast_wl *wl, int descriptor, int32_t byte_count);
/// The memory's buffers are to be dropped before.
void upcast_wl_detach(upcast_wl *wl, upcast_wl_memory *memory);
upcast_wl_buffer *upcast_wl_make_buffer(
    upcast_wl *wl, upcast_wl_memory *memory, int32_t offset, int32_t width, int32_t height, int32_t stride,
    uint32_t format);
void upcast_wl_drop_buffer(upcast_wl *wl, upcast_wl_buffer *buffer);

/// Asks for a picture of an output: UPCAST_WL_ASKED, or UPCAST_WL_FAILED if the output is gone.
///
/// @param part  of the output, in its logical pixels as the user sees it; NULL for all. Only UPCAST_WL_SCREENCOPY.
void upcast_wl_ask(
    upcast_wl *wl, enum upcast_wl_protocol protocol, uint32_t output, bool has_pointer,
    const upcast_wl_rectangle *part);
/// Lets the compositor write a picture that was described: UPCAST_WL_COPYING.
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
