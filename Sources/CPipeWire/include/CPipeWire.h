/// A video stream of PipeWire as plain values: the pictures that a desktop gives through its ScreenCast portal.
///
/// libpipewire is loaded when needed, so that programs start without it. A stream is for one thread at a time. No
/// function waits. Pictures lie in the sender's memory (MemFd). Memory of graphics cards (DmaBuf) is not accepted.
#ifndef UPCAST_PIPEWIRE_H
#define UPCAST_PIPEWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_pipewire upcast_pipewire;

typedef struct {
    int32_t x, y, width, height;
} upcast_pipewire_rectangle;

/// The order of the bytes of a pixel in memory. If the name has no X, the fourth byte is the opacity.
enum upcast_pipewire_format {
    UPCAST_PIPEWIRE_NO_FORMAT,
    UPCAST_PIPEWIRE_BGRX,
    UPCAST_PIPEWIRE_RGBX,
    UPCAST_PIPEWIRE_XRGB,
    UPCAST_PIPEWIRE_XBGR,
};

/// The shape of the pointer, if a buffer has one.
typedef struct {
    /// UPCAST_PIPEWIRE_NO_FORMAT for a hidden pointer.
    enum upcast_pipewire_format format;
    int32_t width, height, stride, hot_x, hot_y;
} upcast_pipewire_shape;

/// The contents of a buffer of the stream.
typedef struct {
    /// The number by which it is given back.
    uint32_t number;
    /// False for a buffer that only moves the pointer, and for a picture that was lost: `is_lost`.
    bool has_picture, is_lost;
    /// The size of the memory that the picture is in.
    uint32_t byte_count;
    /// The picture's place in the memory, as the sender reports it. It is not checked.
    uint32_t offset, size;
    int32_t stride;
    enum upcast_pipewire_format format;
    uint32_t width, height;
    /// The part of the picture that is to be shown. Its width is 0 if it is not reported.
    upcast_pipewire_rectangle crop;
    /// A value of wl_output.transform; -1 if it is not reported.
    int32_t transform;
    /// In nanoseconds of the sender's clock; negative if it is not reported.
    int64_t time;
    /// The sender's counter of pictures; 0 if it does not count.
    uint64_t sequence;
    /// The differences from the picture before, in its pixels. The count is 0 if no damage is reported.
    upcast_pipewire_rectangle damage[16];
    uint32_t damage_count;
    /// PipeWire has lost buffers that the sender sent before this one. They may have had a newer picture.
    bool follows_loss;
    /// Whether the stream has reported the pointer. If `is_pointer_visible`, the position is in pixels of the picture.
    bool has_pointer, is_pointer_visible, has_shape;
    int32_t pointer_x, pointer_y;
    upcast_pipewire_shape shape;
} upcast_pipewire_picture;

enum upcast_pipewire_stage {
    UPCAST_PIPEWIRE_CONNECTING,
    /// No buffer comes: the stream is not linked, or was told to pause.
    UPCAST_PIPEWIRE_PAUSED,
    UPCAST_PIPEWIRE_STREAMING,
    /// The server has gone, or has ended the stream.
    UPCAST_PIPEWIRE_ENDED,
};

typedef struct {
    enum upcast_pipewire_stage stage;
    /// How often the stage has become UPCAST_PIPEWIRE_STREAMING, or the format has changed in that stage.
    uint32_t starts;
    /// Whether the captured node has gone, or PipeWire has.
    bool is_gone;
    /// PipeWire has ended the connection, and the captured node was there until then.
    bool is_server_gone;
    /// Why the stream has ended, in PipeWire's words. In UTF-8, possibly cut, ends at the first 0.
    char error[256];
} upcast_pipewire_state;

enum upcast_pipewire_open_error {
    UPCAST_PIPEWIRE_NO_LIBRARY = 1,
    UPCAST_PIPEWIRE_NO_SERVER,
    UPCAST_PIPEWIRE_NO_MEMORY,
};

/// Begins to receive a stream.
///
/// @param remote       a connection to PipeWire, which the stream owns from here on, also after a failure.
/// @param node         the node that is captured.
/// @param rate         the most pictures per second, as a fraction.
/// @param has_pointer  whether the sender reports the pointer separately from the pictures.
/// @return NULL and an upcast_pipewire_open_error on failure.
upcast_pipewire *upcast_pipewire_open(
    int remote, uint32_t node, uint32_t rate, uint32_t rate_divisor, bool has_pointer, int *error);
void upcast_pipewire_close(upcast_pipewire *pw);
/// Binds the stream to the calling thread, until it leaves. All functions below are called between the two.
void upcast_pipewire_enter(upcast_pipewire *pw);
void upcast_pipewire_leave(upcast_pipewire *pw);

/// For `poll`.
int upcast_pipewire_descriptor(upcast_pipewire *pw);
/// Handles all events that have arrived.
void upcast_pipewire_process(upcast_pipewire *pw);
/// Valid until the next call.
const upcast_pipewire_state *upcast_pipewire_look(upcast_pipewire *pw);
/// Lets the sender pause or continue.
void upcast_pipewire_set_active(upcast_pipewire *pw, bool is_active);

/// Takes the next buffer, in order. False if there is none, or if the maximum number of buffers is held.
bool upcast_pipewire_take(upcast_pipewire *pw, upcast_pipewire_picture *picture);
/// The memory of a buffer that was taken: that of its picture, and that of its pointer's shape. NULL if it has none,
/// and if the stream has removed the buffer because its format changes.
const uint8_t *upcast_pipewire_memory(upcast_pipewire *pw, uint32_t number);
const uint8_t *upcast_pipewire_shape_memory(upcast_pipewire *pw, uint32_t number);
/// Gives a buffer back to the sender, which may write to it from then on.
void upcast_pipewire_give_back(upcast_pipewire *pw, uint32_t number);

/// Finds one of at most 32 waiting buffers that can go back to the sender, because later ones contain all that it has.
/// It needs no stream.
///
/// @param pictures  whether each buffer has a picture; bit 0 is the first buffer.
/// @param shapes    whether each buffer has a shape of the pointer.
/// @return the index of the first one; -1 for none.
int upcast_pipewire_find_outdated(uint32_t pictures, uint32_t shapes, int count);

/// The most buffers that a sender can have.
enum { UPCAST_PIPEWIRE_BUFFERS = 32 };

/// A sender's buffers in the order in which they should come. It shows which ones were lost. A plain value; all zero
/// means no buffers.
typedef struct {
    uintptr_t buffers[UPCAST_PIPEWIRE_BUFFERS];
    uint32_t count;
    /// The sequence number of the last buffer; 0 if the sender does not count.
    uint64_t sequence;
} upcast_pipewire_order;

void upcast_pipewire_order_add(upcast_pipewire_order *order, uintptr_t buffer);
void upcast_pipewire_order_remove(upcast_pipewire_order *order, uintptr_t buffer);
/// Notes that a buffer has come.
///
/// @param sequence  the sender's counter of buffers; 0 if it does not count.
/// @return whether buffers that should have come before it are missing.
bool upcast_pipewire_order_take(upcast_pipewire_order *order, uintptr_t buffer, uint64_t sequence);

#endif
