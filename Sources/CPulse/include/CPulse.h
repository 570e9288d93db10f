/// The parts of PulseAudio that upcast-screen needs: libpulse's callbacks as plain values. pipewire-pulse speaks the
/// same protocol.
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

/// No index; equal to PA_INVALID_INDEX.
#define UPCAST_PULSE_NONE UINT32_MAX

typedef struct {
    uint32_t index;
    char name[256], description[256];
    /// The sink that a source is the monitor of. UPCAST_PULSE_NONE for a microphone, and for a sink.
    uint32_t monitor_of;
    /// For a sink: the time from writing samples until they are heard.
    uint64_t latency_usec;
} upcast_pulse_device;

/// A playback stream of a program.
typedef struct {
    uint32_t index, sink;
    /// application.name and application.process.binary.
    char application[128], binary[128];
} upcast_pulse_playback;

/// The devices and playbacks of a server. Items beyond the end of an array are left out.
typedef struct {
    char server_name[128];
    char default_sink[256], default_source[256];
    upcast_pulse_device sinks[64], sources[128];
    upcast_pulse_playback playbacks[128];
    uint32_t sink_count, source_count, playback_count;
} upcast_pulse_facts;

/// The position of a stream at one moment, in bytes of its format.
typedef struct {
    /// CLOCK_MONOTONIC, when the server answered.
    int64_t at_nsec;
    /// The bytes that the server has written to the stream, and those that this process has read. The difference is on
    /// its way.
    int64_t write_index, read_index;
    /// The bytes that have come to this process, of those that it has not read.
    int64_t arrived;
    /// How long ago the last written byte was captured, without what the server holds back; and how long after its
    /// capture a byte is heard.
    uint64_t source_usec, sink_usec;
    /// How long ago the last byte that has left the server was captured, with what it holds back; 0 if it does not say.
    uint64_t left_usec;
    /// The bytes and holes that were read since the stream was made.
    int64_t position;
} upcast_pulse_timing;

enum upcast_pulse_open_error {
    UPCAST_PULSE_NO_LIBRARY = -1,
    UPCAST_PULSE_NO_MEMORY = -2,
    /// `stop` is readable.
    UPCAST_PULSE_STOPPED = -3,
    /// The server has accepted the connection, but does not answer.
    UPCAST_PULSE_SILENT = -4,
    /// No server listens at the socket.
    UPCAST_PULSE_REFUSED = -5,
    /// The server does not accept this user.
    UPCAST_PULSE_DENIED = -6,
    /// The server has ended the connection.
    UPCAST_PULSE_ENDED = -7,
};

/// Connects to a server (NULL: $PULSE_SERVER, or the user's own server) and waits for its answer.
///
/// @param stop      a descriptor; once it is readable, all waits end.
/// @param patience  how many milliseconds the server has for each answer.
/// @param error  if NULL is returned: libpulse's code, or one of `upcast_pulse_open_error`.
upcast_pulse *upcast_pulse_open(const char *server, int stop, int patience, int *error);
void upcast_pulse_close(upcast_pulse *p);
/// libpulse's text for one of its codes. It is never freed.
const char *upcast_pulse_error_text(int error);

/// Runs the main loop until something happens, at most for `milliseconds`. Returns 0 afterwards, 1 if `stop` is
/// readable, -1 if the server has ended.
int upcast_pulse_wait(upcast_pulse *p, int milliseconds);

/// Whether devices or programs have come, gone or changed since the last `upcast_pulse_read`.
bool upcast_pulse_has_changed(upcast_pulse *p);
/// Reads all facts from the server. Returns a status of `upcast_pulse_wait`; UPCAST_PULSE_SILENT if it does not answer
/// in time.
int upcast_pulse_read(upcast_pulse *p, upcast_pulse_facts *facts);

/// Begins to record a source, in 16-bit little-endian samples at 48 kHz.
///
/// @param playback  records only this playback of the sink that the source monitors; UPCAST_PULSE_NONE for all.
/// @param fragment_bytes  how many bytes come at once.
/// @return NULL if the server refuses.
upcast_pulse_stream *upcast_pulse_record(
    upcast_pulse *p, const char *source, uint32_t playback, int channels, uint32_t fragment_bytes);
void upcast_pulse_end(upcast_pulse_stream *s);
/// Whether the server has stopped recording, for example because the source has gone.
bool upcast_pulse_has_ended(upcast_pulse_stream *s);
/// How often the stream has stood still since it was made. Times before and after such a break are not comparable.
uint32_t upcast_pulse_breaks(upcast_pulse_stream *s);

/// Whether the server has reported a change of the stream since the last call, and at which byte of it.
bool upcast_pulse_take_change(upcast_pulse_stream *s, int64_t *position);

/// The next bytes, which stay until `upcast_pulse_drop`. False if there are none. A hole has a size but no bytes.
bool upcast_pulse_peek(upcast_pulse_stream *s, const void **bytes, size_t *count);
void upcast_pulse_drop(upcast_pulse_stream *s);

/// Asks the server for the position of the stream; one question at a time.
void upcast_pulse_ask_timing(upcast_pulse_stream *s);
/// Takes the answer. False if there is none.
bool upcast_pulse_take_timing(upcast_pulse_stream *s, upcast_pulse_timing *timing);

#endif
