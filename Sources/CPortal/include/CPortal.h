/// A desktop's ScreenCast portal (org.freedesktop.portal.ScreenCast) as plain values: calls and signals of D-Bus,
/// through libsystemd's sd-bus.
///
/// libsystemd is loaded when needed, so that programs start without it. For one thread at a time. No function waits for
/// the portal. Answers arrive while `upcast_portal_process` is called.
#ifndef UPCAST_PORTAL_H
#define UPCAST_PORTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct upcast_portal upcast_portal;

/// The stages of a request.
enum upcast_portal_stage {
    UPCAST_PORTAL_IDLE,
    /// The portal has not answered the call yet.
    UPCAST_PORTAL_CALLING,
    /// The portal has accepted the request, and may be asking the user.
    UPCAST_PORTAL_WAITING,
    UPCAST_PORTAL_ANSWERED,
    /// `error_name` and `error_text` contain the reason.
    UPCAST_PORTAL_FAILED,
};

/// The existence of the session's object, after `upcast_portal_look_for_session`.
enum upcast_portal_presence {
    UPCAST_PORTAL_UNKNOWN,
    UPCAST_PORTAL_THERE,
    UPCAST_PORTAL_NOT_THERE,
};

/// Texts are in UTF-8, possibly cut, and end at the first 0.
typedef struct {
    enum upcast_portal_stage stage;
    /// The response to a request: 0 granted, 1 refused by the user, other values: ended in another way.
    uint32_t response;
    char error_name[128], error_text[256];
    /// The version of the portal, and its bits for kinds of sources and for ways to show the pointer.
    uint32_t version, sources, pointers;
    /// The first stream that was granted, and its node at PipeWire.
    bool has_stream;
    uint32_t node;
    /// Restores the choice once, without a question. Empty for none.
    char token[1024];
    /// The connection to PipeWire, until `upcast_portal_take_remote`; negative if there is none.
    int remote;
    /// The desktop has closed the session.
    bool is_closed;
    /// The portal has left the bus, or another program has taken its place.
    bool is_gone;
    enum upcast_portal_presence presence;
} upcast_portal_state;

enum upcast_portal_open_error {
    UPCAST_PORTAL_NO_LIBRARY = 1,
    UPCAST_PORTAL_NO_BUS,
    UPCAST_PORTAL_NO_MEMORY,
    /// The bus has accepted the connection, but does not answer.
    UPCAST_PORTAL_SILENT_BUS,
};

/// Connects to the bus of the user's session. Waits for the bus, for some seconds at most. Returns NULL and an
/// upcast_portal_open_error on failure.
upcast_portal *upcast_portal_open(int *error);
/// Closes the session, if there is one, and the connection.
void upcast_portal_close(upcast_portal *p);

/// For `poll`: the descriptor, its events, and the longest wait before `upcast_portal_process` (-1: no limit).
int upcast_portal_descriptor(upcast_portal *p);
short upcast_portal_events(upcast_portal *p);
int upcast_portal_milliseconds(upcast_portal *p);
/// Handles all messages that have arrived. False if the bus has gone.
bool upcast_portal_process(upcast_portal *p);
/// Waits until the bus has delivered what was sent to this program before; `upcast_portal_process` handles it. False if
/// the bus does not answer within a second.
bool upcast_portal_catch_up(upcast_portal *p);
/// Valid until the next call.
const upcast_portal_state *upcast_portal_look(upcast_portal *p);

// Requests, one at a time. The stage becomes UPCAST_PORTAL_CALLING, or UPCAST_PORTAL_FAILED at once.

/// Asks for the capabilities of the portal: `version`, `sources`, `pointers`.
void upcast_portal_ask_facts(upcast_portal *p);
/// Makes a session, without asking the user.
void upcast_portal_create_session(upcast_portal *p);
/// Sets the wishes for the session. `token` is an earlier one, or NULL.
void upcast_portal_select(
    upcast_portal *p, uint32_t sources, uint32_t pointer, bool is_persistent, const char *token);
/// Asks the user, unless the token already gives the answer.
void upcast_portal_start(upcast_portal *p);
/// Asks for the connection to PipeWire.
void upcast_portal_open_remote(upcast_portal *p);
/// Takes the descriptor, which the caller then owns.
int upcast_portal_take_remote(upcast_portal *p);
/// Ends the session: the desktop stops capturing.
void upcast_portal_end_session(upcast_portal *p);
/// Asks whether the desktop still has the session, for `presence`. May be called during another request.
void upcast_portal_look_for_session(upcast_portal *p);

#endif
