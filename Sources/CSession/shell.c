// GNOME Shell's overview shows secret windows, and no X client can see when. D-Bus tells it.
#include "CSession.h"

#include <CBus.h>
#include <errno.h>
#include <stdlib.h>

static const char shell[] = "org.gnome.Shell";

struct upcast_shell {
    sd_bus *bus;
};

/// A picture waits for the answer.
enum { PATIENCE_MSEC = 250 };

upcast_shell *upcast_shell_open(void) { return calloc(1, sizeof(upcast_shell)); }

void upcast_shell_close(upcast_shell *s) {
    const upcast_bus_library *l = s->bus ? upcast_bus_load() : NULL;
    if (l) upcast_bus_close(l, &s->bus);
    free(s);
}

/// Whether an error says that a bus is there, but does not serve this connection.
static bool is_lost(int status) {
    switch (-status) {
    case ETIMEDOUT:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case EPIPE:
    case ESHUTDOWN: return true;
    default: return false;
    }
}

/// Asks; the bus does not start a GNOME Shell for that.
static int ask(upcast_shell *s, const upcast_bus_library *l, int *is_visible) {
    int status = s->bus ? 0 : upcast_bus_open(l, l->sd_bus_open_user, -1, PATIENCE_MSEC, PATIENCE_MSEC, &s->bus);
    // Without a bus, there is no GNOME Shell. One that hangs up may have too many connections.
    if (!s->bus && !is_lost(status)) return -ENOENT;
    // Messages other than answers are discarded.
    while (status >= 0 && (status = l->sd_bus_process(s->bus, NULL)) > 0) {}
    sd_bus_message *question = NULL, *answer = NULL;
    if (status >= 0)
        status = l->sd_bus_message_new_method_call(
            s->bus, &question, shell, "/org/gnome/Shell", "org.freedesktop.DBus.Properties", "Get");
    if (status >= 0) status = l->sd_bus_message_append(question, "ss", shell, "OverviewActive");
    if (status >= 0) status = l->sd_bus_message_set_auto_start(question, false);
    if (status >= 0) status = l->sd_bus_call(s->bus, question, 0, NULL, &answer);
    if (status >= 0) status = l->sd_bus_message_read(answer, "v", "b", is_visible);
    l->sd_bus_message_unref(question);
    l->sd_bus_message_unref(answer);
    return status;
}

/// Whether an error says that there is no GNOME Shell to ask: no bus, or no such name, object or property. One that
/// refuses to answer may show its overview.
static bool is_absent(int status) {
    switch (-status) {
    case ENOMEDIUM:
    case ENOENT:
    case ECONNREFUSED:
    case ENXIO:
    case EHOSTUNREACH:
    case EBADR:
    case EINVAL: return true;
    default: return false;
    }
}

int upcast_shell_overview(upcast_shell *s) {
    const upcast_bus_library *l = upcast_bus_load();
    if (!l) return -1;
    int is_visible = 0, status = 0;
    // A connection that was lost is opened again, once.
    for (int i = 0; i < 2; i++) {
        status = ask(s, l, &is_visible);
        if (status >= 0) return is_visible != 0;
        if (is_absent(status)) return -1;
        // The bus counts questions without an answer until the connection ends.
        upcast_bus_close(l, &s->bus);
        if (status == -ETIMEDOUT) break;
    }
    return 1;
}
