/// What a desktop session says of its lock, as plain values: signals of D-Bus, received through libsystemd's sd-bus.
///
/// libsystemd is loaded when it is needed, so that programs start without it. For one thread.
#ifndef UPCAST_SESSION_H
#define UPCAST_SESSION_H

#include <stdbool.h>

typedef struct upcast_session upcast_session;

typedef struct {
    /// logind: the property LockedHint of the session.
    bool is_locked;
    /// logind: another session has the screen.
    bool is_switched;
    /// logind: the machine is about to sleep.
    bool is_sleeping;
    /// A screen saver of the desktop is on, which locks as a rule.
    bool is_saver_on;
} upcast_session_state;

/// Connects to the system's bus and to that of the user, as far as they are there. NULL if neither is, or libsystemd is
/// not installed. After the first one that does not answer, nobody else is asked.
///
/// @param stop      a descriptor; once it is readable, nobody waits for a bus any more.
/// @param patience  how many milliseconds a bus may take until it takes questions.
upcast_session *upcast_session_open(int stop, int patience);
void upcast_session_close(upcast_session *s);

/// Who is there and does not answer: the state may be wrong, and stays so. NULL for nobody. Lives as long as the process.
const char *upcast_session_silent(const upcast_session *s);

/// The descriptors of the buses, to be polled for input before the next look; -1 for one that is not there.
void upcast_session_descriptors(upcast_session *s, int *system, int *user);

/// Handles all that has arrived, and tells what is true now. Does not wait, but for logind's answer after it has told of a
/// change, at most for a second each. What cannot be heard any more, because a bus has ended, stays as it was.
void upcast_session_look(upcast_session *s, upcast_session_state *state);

#endif
