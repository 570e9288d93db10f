/// A video stream of PipeWire's as plain values: the pictures that a desktop gives through its ScreenCast portal.
///
/// libpipewire is loaded when it is needed, so that programs start without it. A stream is for one thread at a time.
/// Nothing here waits. Pictures lie in the sender's memory (MemFd): memory of graphics cards (DmaBuf) is not taken.
#ifndef UPCAST_PIPEWIRE_H
#define UPCAST_PIPEWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_pipewire upcast_pipewire;

typedef struct {
    int32_t x, y, width, height;
} upcast_pipewire_rectangle;

/// The order of the bytes of a pixel in memory; without an X, the fourth is the opacity.
enum upcast_pipewire_format {
    UPCAST_PIPEWIRE_NO_FORMAT,
    UPCAST_PIPEWIRE_BGRX,
    UPCAST_PIPEWIRE_RGBX,
    UPCAST_PIPEWIRE_XRGB,
    UPCAST_PIPEWIRE_XBGR,
};

/// The shape of the pointer, as far as a buffer has one.
typedef struct {
    /// UPCAST_PIPEWIRE_NO_FORMAT for a pointer that cannot be seen.
    enum upcast_pipewire_format format;
    int32_t width, height, stride, hot_x, hot_y;
} upcast_pipewire_shape;

/// What a buffer of the stream has.
typedef struct {
    /// By which it is given back.
    uint32_t number;
    /// False for a buffer that only moves the pointer, and for a picture that was lost: `is_lost`.
    bool has_picture, is_lost;
    /// Bytes of the memory that the picture is in.
    uint32_t byte_count;
    /// Where it is in the memory, as the sender says: nobody has checked it.
    uint32_t offset, size;
    int32_t stride;
    enum upcast_pipewire_format format;
    uint32_t width, height;
    /// What of the picture is to be shown; it has a width of 0 where nothing is told.
    upcast_pipewire_rectangle crop;
    /// As wl_output.transform; -1 where it is not told.
    int32_t transform;
    /// Nanoseconds of the sender's clock; negative where it is not told.
    int64_t time;
    /// Counts the sender's pictures; 0 where it does not.
    uint64_t sequence;
    /// What differs from the picture before, in its pixels. 0 where nothing is told.
    upcast_pipewire_rectangle damage[16];
    uint32_t damage_count;
    /// Other buffers were sent before it, and PipeWire has lost them: they may have had a newer picture.
    bool follows_loss;
    /// The stream has told of the pointer; `is_pointer_visible`, and where it points, in pixels of the picture.
    bool has_pointer, is_pointer_visible, has_shape;
    int32_t pointer_x, pointer_y;
    upcast_pipewire_shape shape;
} upcast_pipewire_picture;

enum upcast_pipewire_stage {
    UPCAST_PIPEWIRE_CONNECTING,
    /// Nothing comes: the stream is not linked, or was told to pause.
    UPCAST_PIPEWIRE_PAUSED,
    UPCAST_PIPEWIRE_STREAMING,
    /// The server is gone, or has ended the stream.
    UPCAST_PIPEWIRE_ENDED,
};

typedef struct {
    enum upcast_pipewire_stage stage;
    /// How often the stage has become UPCAST_PIPEWIRE_STREAMING.
    uint32_t starts;
    /// What is captured has gone, or PipeWire has.
    bool is_gone;
    /// Why it has ended, in PipeWire's words; in UTF-8, cut, and ends at the first 0.
    char error[256];
} upcast_pipewire_state;

enum upcast_pipewire_open_error {
    UPCAST_PIPEWIRE_NO_LIBRARY = 1,
    UPCAST_PIPEWIRE_NO_SERVER,
    UPCAST_PIPEWIRE_NO_MEMORY,
};

/// Begins to receive a stream.
///
/// @param remote       a connection to PipeWire; it is the stream's from here on, whatever happens.
/// @param node         what is captured.
/// @param rate         the most pictures per second, as a fraction.
/// @param has_pointer  the pointer is told beside the pictures.
/// @return NULL, and an upcast_pipewire_open_error.
upcast_pipewire *upcast_pipewire_open(
    int remote, uint32_t node, uint32_t rate, uint32_t rate_divisor, bool has_pointer, int *error);
void upcast_pipewire_close(upcast_pipewire *pw);
/// The calling thread uses the stream from here on, until it leaves. All below is between the two.
void upcast_pipewire_enter(upcast_pipewire *pw);
void upcast_pipewire_leave(upcast_pipewire *pw);

/// For `poll`.
int upcast_pipewire_descriptor(upcast_pipewire *pw);
/// Handles all that has arrived.
void upcast_pipewire_process(upcast_pipewire *pw);
/// Valid until the next call.
const upcast_pipewire_state *upcast_pipewire_look(upcast_pipewire *pw);
/// Lets the sender pause, or go on.
void upcast_pipewire_set_active(upcast_pipewire *pw, bool is_active);

/// The next buffer, in order. False without one, or if as many as can be held are.
bool upcast_pipewire_take(upcast_pipewire *pw, upcast_pipewire_picture *picture);
/// The memory of a buffer that was taken: of its picture, and of the shape of its pointer. NULL where it has none, and
/// where the stream has taken it away, because its format changes.
const uint8_t *upcast_pipewire_memory(upcast_pipewire *pw, uint32_t number);
const uint8_t *upcast_pipewire_shape_memory(upcast_pipewire *pw, uint32_t number);
/// Gives a buffer back to the sender, which may write to it from then on.
void upcast_pipewire_give_back(upcast_pipewire *pw, uint32_t number);

/// Which of at most 32 buffers that wait can go back to the sender, because later ones say the same, and more. Decided
/// without a stream.
///
/// @param pictures  bit 0 is the first buffer: whether it has a picture.
/// @param shapes    whether it has a shape of the pointer.
/// @return the first one; -1 for none.
int upcast_pipewire_find_outdated(uint32_t pictures, uint32_t shapes, int count);

/// As many as a sender can have.
enum { UPCAST_PIPEWIRE_BUFFERS = 32 };

/// A sender's buffers in the order in which they are to come, by which those that were lost are noticed. A plain value;
/// all zero is none.
typedef struct {
    uintptr_t buffers[UPCAST_PIPEWIRE_BUFFERS];
    uint32_t count;
    /// Of the last one; 0 where the sender does not count.
    uint64_t sequence;
} upcast_pipewire_order;

void upcast_pipewire_order_add(upcast_pipewire_order *order, uintptr_t buffer);
void upcast_pipewire_order_remove(upcast_pipewire_order *order, uintptr_t buffer);
/// A buffer has come.
///
/// @param sequence  counts the sender's buffers; 0 where it does not.
/// @return whether others that were to come before it have not.
bool upcast_pipewire_order_take(upcast_pipewire_order *order, uintptr_t buffer, uint64_t sequence);

#endif
