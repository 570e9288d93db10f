/// PulseAudio as upcast-screen needs it: libpulse's callbacks as plain values. pipewire-pulse speaks the same protocol.
///
/// libpulse is loaded when the first connection is opened, so that programs start on machines without it. A connection,
/// its streams and what they return are for one thread.
#ifndef UPCAST_PULSE_H
#define UPCAST_PULSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_pulse upcast_pulse;
typedef struct upcast_pulse_stream upcast_pulse_stream;

/// No index, as PA_INVALID_INDEX.
#define UPCAST_PULSE_NONE UINT32_MAX

typedef struct {
    uint32_t index;
    char name[256], description[256];
    /// Of a source that is the monitor of a sink: that sink. UPCAST_PULSE_NONE for a microphone, and for a sink.
    uint32_t monitor_of;
    /// Of a sink: how long it takes until what was written to it is heard.
    uint64_t latency_usec;
} upcast_pulse_device;

/// What a program plays.
typedef struct {
    uint32_t index, sink;
    /// application.name and application.process.binary.
    char application[128], binary[128];
} upcast_pulse_playback;

/// What a server has; what is beyond an array's end is left out.
typedef struct {
    char server_name[128];
    char default_sink[256], default_source[256];
    upcast_pulse_device sinks[64], sources[128];
    upcast_pulse_playback playbacks[128];
    uint32_t sink_count, source_count, playback_count;
} upcast_pulse_facts;

/// Where a stream was at one moment, in bytes of its format.
typedef struct {
    /// CLOCK_MONOTONIC, when the server answered.
    int64_t at_nsec;
    /// What the server has written to the stream, and what this process has read of it; the difference is on its way.
    int64_t write_index, read_index;
    /// How long ago the last byte written was captured; and how much later than captured it is heard.
    uint64_t source_usec, sink_usec;
    /// What has been read since the stream was made: bytes and holes.
    int64_t position;
} upcast_pulse_timing;

enum upcast_pulse_open_error {
    UPCAST_PULSE_NO_LIBRARY = -1,
    UPCAST_PULSE_NO_MEMORY = -2,
    /// `stop` is readable.
    UPCAST_PULSE_STOPPED = -3,
    /// The server has taken the connection, and says nothing.
    UPCAST_PULSE_SILENT = -4,
    /// Nobody listens at the server's socket.
    UPCAST_PULSE_REFUSED = -5,
    /// The server does not take this user.
    UPCAST_PULSE_DENIED = -6,
    /// The server has ended the connection.
    UPCAST_PULSE_ENDED = -7,
};

/// Connects to a server (NULL: $PULSE_SERVER, or that of the user) and waits for its answer.
///
/// @param stop      a descriptor; once it is readable, all that waits ends.
/// @param patience  how many milliseconds the server has for each answer.
/// @param error  when NULL is returned: libpulse's code, or one of `upcast_pulse_open_error`.
upcast_pulse *upcast_pulse_open(const char *server, int stop, int patience, int *error);
void upcast_pulse_close(upcast_pulse *p);
/// libpulse's words for one of its codes; lives as long as the process.
const char *upcast_pulse_error_text(int error);

/// Works until something happens, at most for so long. 0 afterwards, 1 if `stop` is readable, -1 where the server has
/// ended.
int upcast_pulse_wait(upcast_pulse *p, int milliseconds);

/// Whether devices or programs have come, gone or changed since the last `upcast_pulse_read`.
bool upcast_pulse_has_changed(upcast_pulse *p);
/// Asks for all that the server has. A status, as of `upcast_pulse_wait`; UPCAST_PULSE_SILENT if it does not answer in time.
int upcast_pulse_read(upcast_pulse *p, upcast_pulse_facts *facts);

/// Begins to record a source, in 16-bit little-endian samples at 48 kHz.
///
/// @param playback  to hear only this one of the sink that the source is the monitor of, or UPCAST_PULSE_NONE.
/// @param fragment_bytes  how much comes at once.
/// @return NULL where the server refuses.
upcast_pulse_stream *upcast_pulse_record(
    upcast_pulse *p, const char *source, uint32_t playback, int channels, uint32_t fragment_bytes);
void upcast_pulse_end(upcast_pulse_stream *s);
/// The server does not record any more, for example because the source is gone.
bool upcast_pulse_has_ended(upcast_pulse_stream *s);
/// How often the stream has stood still since it was made; times from before and after do not belong together.
uint32_t upcast_pulse_breaks(upcast_pulse_stream *s);

/// The next bytes; they stay until `upcast_pulse_drop`. Returns false without any. A hole has a size and no bytes.
bool upcast_pulse_peek(upcast_pulse_stream *s, const void **bytes, size_t *count);
void upcast_pulse_drop(upcast_pulse_stream *s);

/// Asks the server where the stream is; one question at a time.
void upcast_pulse_ask_timing(upcast_pulse_stream *s);
/// The answer, once. False without one.
bool upcast_pulse_take_timing(upcast_pulse_stream *s, upcast_pulse_timing *timing);

#endif
