/// What a desktop session tells over D-Bus, through libsystemd's sd-bus: its lock state, and GNOME Shell's overview.
///
/// libsystemd is loaded when needed, so that programs start without it. For one thread.
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
    /// A screen saver of the desktop is active, which usually locks the screen.
    bool is_saver_on;
} upcast_session_state;

/// Connects to the system bus and to the user's bus, if they exist. NULL if there is neither, or libsystemd is missing.
/// After the first program that does not answer, no other one is asked.
///
/// @param stop      a descriptor; once it is readable, the wait for a bus ends.
/// @param patience  how many milliseconds a bus may take until it accepts questions.
upcast_session *upcast_session_open(int stop, int patience);
void upcast_session_close(upcast_session *s);

/// The program that exists but does not answer, so that the state may stay wrong. NULL if all answer. It is never
/// freed.
const char *upcast_session_silent(const upcast_session *s);

/// The descriptors of the buses, to be polled for input before the next look; -1 for a missing bus.
void upcast_session_descriptors(upcast_session *s, int *system, int *user);

/// Handles all messages that have arrived, and returns the current state. It waits only for logind's answers after
/// logind has reported a change, at most a second for each. State from a bus that has ended stays as it was.
void upcast_session_look(upcast_session *s, upcast_session_state *state);

/// Asks GNOME Shell whether it shows its overview, in which it draws windows elsewhere. For one thread.
typedef struct upcast_shell upcast_shell;

/// NULL without memory. Connects when it asks.
upcast_shell *upcast_shell_open(void);
void upcast_shell_close(upcast_shell *s);

/// Asks, and waits at most a quarter of a second for the bus, and as long for GNOME Shell; once more if the connection
/// was lost meanwhile.
///
/// Returns 1 if the overview is visible, or GNOME Shell refuses to answer, or there is no answer in time, or an error
/// other than these: -1 if GNOME Shell does not run, or cannot be asked, because there is no bus, no libsystemd, or no
/// such property. 0 if the overview is not visible.
int upcast_shell_overview(upcast_shell *s);

#endif
