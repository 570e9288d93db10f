// GNOME Shell's overview shows secret windows, and no X client can see when. D-Bus tells it.
#include "CSession.h"

#include <CBus.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char shell[] = "org.gnome.Shell";
static const char bus_daemon[] = "org.freedesktop.DBus";

struct upcast_shell {
    sd_bus *bus;
    /// The Shell's unique name on the bus; empty if it is not known.
    char owner[64];
};

/// A picture waits for the answer.
enum { PATIENCE_MSEC = 250 };

upcast_shell *upcast_shell_open(void) { return calloc(1, sizeof(upcast_shell)); }

static void disconnect(upcast_shell *s, const upcast_bus_library *l) {
    if (!s->bus) return;
    l->sd_bus_close(s->bus);
    l->sd_bus_unref(s->bus);
    s->bus = NULL;
    s->owner[0] = 0;
}

void upcast_shell_close(upcast_shell *s) {
    const upcast_bus_library *l = s->bus ? upcast_bus_load() : NULL;
    if (l) disconnect(s, l);
    free(s);
}

static int connect_bus(upcast_shell *s, const upcast_bus_library *l) {
    int status = l->sd_bus_open_user(&s->bus);
    if (status < 0) {
        s->bus = NULL;
        // The daemon's queue of connections is full, because its process is stopped.
        return status == -EAGAIN ? -ETIMEDOUT : status;
    }
    status = upcast_bus_wait(l, s->bus, -1, PATIENCE_MSEC);
    return status < 0 ? status : l->sd_bus_set_method_call_timeout(s->bus, PATIENCE_MSEC * UINT64_C(1000));
}

/// Finds the process that is GNOME Shell now. The bus does not start one.
static int find(upcast_shell *s, const upcast_bus_library *l) {
    sd_bus_message *answer = NULL;
    const char *name = NULL;
    int status = l->sd_bus_call_method(
        s->bus, bus_daemon, "/org/freedesktop/DBus", bus_daemon, "GetNameOwner", NULL, &answer, "s", shell);
    if (status >= 0) status = l->sd_bus_message_read(answer, "s", &name);
    if (status >= 0 && strlen(name) >= sizeof s->owner) status = -ENAMETOOLONG;
    if (status >= 0) strcpy(s->owner, name);
    l->sd_bus_message_unref(answer);
    return status;
}

static int get_overview(upcast_shell *s, const upcast_bus_library *l, int *is_visible) {
    return l->sd_bus_get_property_trivial(
        s->bus, s->owner, "/org/gnome/Shell", shell, "OverviewActive", NULL, 'b', is_visible);
}

static int ask(upcast_shell *s, const upcast_bus_library *l, int *is_visible) {
    int status = s->bus ? 0 : connect_bus(s, l);
    // Messages other than answers are discarded.
    while (status >= 0 && (status = l->sd_bus_process(s->bus, NULL)) > 0) {}
    if (status < 0) return status;
    if (s->owner[0]) {
        status = get_overview(s, l, is_visible);
        if (status >= 0 || status == -ETIMEDOUT) return status;
        // The Shell may have restarted.
        s->owner[0] = 0;
    }
    status = find(s, l);
    return status < 0 ? status : get_overview(s, l, is_visible);
}

int upcast_shell_overview(upcast_shell *s) {
    const upcast_bus_library *l = upcast_bus_load();
    if (!l) return -1;
    int is_visible = 0;
    const int status = ask(s, l, &is_visible);
    if (status >= 0) return is_visible != 0;
    // After the end of its connection, the next question has another one.
    if (s->bus && l->sd_bus_is_ready(s->bus) <= 0) disconnect(s, l);
    return status == -ETIMEDOUT ? 1 : -1;
}
