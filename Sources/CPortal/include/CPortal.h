/// The ScreenCast portal of a desktop (org.freedesktop.portal.ScreenCast) as plain values: calls and signals of D-Bus,
/// through libsystemd's sd-bus.
///
/// libsystemd is loaded when it is needed, so that programs start without it. For one thread at a time. Nothing here
/// waits for the portal: what was asked for is answered while `upcast_portal_process` is called.
#ifndef UPCAST_PORTAL_H
#define UPCAST_PORTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_portal upcast_portal;

/// What becomes of a question.
enum upcast_portal_stage {
    UPCAST_PORTAL_IDLE,
    /// The portal has not answered the call.
    UPCAST_PORTAL_CALLING,
    /// It has taken the request, and may be asking the user.
    UPCAST_PORTAL_WAITING,
    UPCAST_PORTAL_ANSWERED,
    /// `error_name` and `error_text` say why.
    UPCAST_PORTAL_FAILED,
};

/// What is known of the session's object after `upcast_portal_look_for_session`.
enum upcast_portal_presence {
    UPCAST_PORTAL_UNKNOWN,
    UPCAST_PORTAL_THERE,
    UPCAST_PORTAL_NOT_THERE,
};

/// Texts are in UTF-8, cut, and end at the first 0.
typedef struct {
    enum upcast_portal_stage stage;
    /// Of a request that was answered: 0 granted, 1 refused by the user, else ended in another way.
    uint32_t response;
    char error_name[128], error_text[256];
    /// Of the portal: its version, and bits as it has them for kinds of sources and for ways to show the pointer.
    uint32_t version, sources, pointers;
    /// Of the first stream that was granted: its node at PipeWire.
    bool has_stream;
    uint32_t node;
    /// Restores the choice without a question, once. Empty for none.
    char token[1024];
    /// For PipeWire, until `upcast_portal_take_remote`; negative without.
    int remote;
    /// The session was closed by the desktop.
    bool is_closed;
    /// The portal has left the bus, or another one has taken its place.
    bool is_gone;
    enum upcast_portal_presence presence;
} upcast_portal_state;

enum upcast_portal_open_error {
    UPCAST_PORTAL_NO_LIBRARY = 1,
    UPCAST_PORTAL_NO_BUS,
    UPCAST_PORTAL_NO_MEMORY,
    /// The bus has taken the connection, and does not answer.
    UPCAST_PORTAL_SILENT_BUS,
};

/// Connects to the bus of the user's session, and waits some seconds for it at most. Returns NULL and an upcast_portal_open_error.
upcast_portal *upcast_portal_open(int *error);
/// Closes the session, if there is one, and the connection.
void upcast_portal_close(upcast_portal *p);

/// For `poll`: the descriptor, its events, and when to process at the latest (-1: no matter).
int upcast_portal_descriptor(upcast_portal *p);
short upcast_portal_events(upcast_portal *p);
int upcast_portal_milliseconds(upcast_portal *p);
/// Handles all that has arrived. False where the bus is gone.
bool upcast_portal_process(upcast_portal *p);
/// Valid until the next call.
const upcast_portal_state *upcast_portal_look(upcast_portal *p);

// Questions, one at a time: UPCAST_PORTAL_CALLING, or UPCAST_PORTAL_FAILED at once.

/// What the portal offers: `version`, `sources`, `pointers`.
void upcast_portal_ask_facts(upcast_portal *p);
/// Makes a session, without asking the user.
void upcast_portal_create_session(upcast_portal *p);
/// Says what is wanted of the session. A token of before, or NULL.
void upcast_portal_select(
    upcast_portal *p, uint32_t sources, uint32_t pointer, bool is_persistent, const char *token);
/// Asks the user, unless the token answers for it.
void upcast_portal_start(upcast_portal *p);
/// Asks for the connection to PipeWire.
void upcast_portal_open_remote(upcast_portal *p);
/// The descriptor is the caller's from here on.
int upcast_portal_take_remote(upcast_portal *p);
/// Ends the session: the desktop stops capturing.
void upcast_portal_end_session(upcast_portal *p);
/// Asks whether the desktop still has the session: `presence`. Beside other questions.
void upcast_portal_look_for_session(upcast_portal *p);

#endif
